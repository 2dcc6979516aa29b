/** The start of the engine's process: waited for as long as the process works on it, because a large store or a busy machine takes minutes. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { FromChild } from "./server/config.js";

export interface StartWatch {
  /** Gives the start up. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** How often a start that lasts is looked at and logged. */
  readonly lookMs: number;
  /** A process that has used no processor time for so long hangs. */
  readonly stalledMs: number;
}

/** Resolves when the process says that it is ready. Throws what it failed with, or why it is not waited for any longer. */
export async function untilStarted(child: ChildProcess, watch: StartWatch): Promise<void> {
  const { signal, logger, lookMs, stalledMs } = watch;
  const began = Date.now();
  let step = "the process starts";
  let work = workOf(child.pid);
  let lastWorked = began;
  let stopWatching: () => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      const onMessage = (message: FromChild) => {
        if (message.kind === "starting") step = message.step;
        if (message.kind === "ready") resolve();
        if (message.kind === "failed") reject(new Error(message.message));
      };
      const onExit = (code: number | null, by: string | null) =>
        reject(new Error(`it exited (${by ?? `code ${code}`})`));
      const look = () => {
        const now = workOf(child.pid);
        if (now === undefined || now !== work) lastWorked = Date.now();
        work = now;
        const seconds = Math.round((Date.now() - began) / 1000);
        logger.warn({ pid: child.pid, seconds }, `the embedded ClickHouse is still starting: ${step}`);
        if (Date.now() - lastWorked > stalledMs)
          reject(new Error(`it has done nothing for ${Math.round(stalledMs / 1000)} s: ${step}`));
      };
      const timer = setInterval(look, lookMs);
      child.on("message", onMessage).on("exit", onExit).on("error", reject);
      signal.addEventListener("abort", onAbort);
      stopWatching = () => {
        clearInterval(timer);
        child.off("message", onMessage).off("exit", onExit).off("error", reject);
        signal.removeEventListener("abort", onAbort);
      };
      if (signal.aborted) onAbort();
    });
  } finally {
    stopWatching();
  }
}

/** The processor time of a process in the kernel's ticks. Undefined where the system does not say, as outside of Linux. */
function workOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program is in parentheses, and may have blanks. User and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return undefined;
  }
}
