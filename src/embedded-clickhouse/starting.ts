/**
 * Waits for the start of the engine's process as long as the process works on it, because a large store or a busy
 * machine takes minutes.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { FromChild } from "./server/config.js";

export interface StartWatch {
  /** Cancels the start. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** How often a long start is checked and logged. */
  readonly checkMs: number;
  /** A process that has used no CPU time for this long counts as hanging. */
  readonly stalledMs: number;
}

/** Resolves when the process is ready. Throws its failure, or the reason why the wait ended. */
export async function untilStarted(child: ChildProcess, watch: StartWatch): Promise<void> {
  const { signal, logger, checkMs, stalledMs } = watch;
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
      const check = () => {
        const now = workOf(child.pid);
        if (now === undefined || now !== work) lastWorked = Date.now();
        work = now;
        const seconds = Math.round((Date.now() - began) / 1000);
        logger.warn({ pid: child.pid, seconds }, `the embedded ClickHouse is still starting: ${step}`);
        if (Date.now() - lastWorked > stalledMs)
          reject(new Error(`it has done nothing for ${Math.round(stalledMs / 1000)} s: ${step}`));
      };
      const timer = setInterval(check, checkMs);
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

/** CPU time of a process in the kernel's ticks. Undefined if the system does not provide it, as outside of Linux. */
function workOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name is in parentheses, and may contain blanks. User and system time are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return undefined;
  }
}
