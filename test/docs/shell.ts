/** A shell for the commands of a page, one after the other. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Test } from "tap";

export interface Shell {
  /** Runs a command to its end. */
  run(command: string): Promise<{ readonly code: number; readonly output: string }>;
  /** Starts a command that runs until it is stopped, in another terminal. Resolves when it listens. */
  start(command: string): Promise<void>;
  /** Sends Ctrl-C to that terminal, if one is open. Resolves with the exit code. */
  stop(): Promise<number | undefined>;
}

const listening = /Ctrl-C stops|listens on http/;
/** `curl -s` hides errors, and a pipe hides those of all but its last command. */
const strict = 'set -o pipefail; curl() { command curl --fail-with-body -sS "$@"; }\n';

export function openShell(t: Test, cwd: string, env: NodeJS.ProcessEnv): Shell {
  const options = { cwd, env, detached: true } as const;
  const shell = spawn("bash", ["--norc"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  shell.stdin.write(`${strict}exec 2>&1\n`);
  let server: { child: ChildProcess; exited: Promise<number> } | undefined;
  let commands = 0;
  const stop = async () => {
    const { child, exited } = server ?? {};
    server = undefined;
    if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
    return await exited;
  };
  t.teardown(async () => {
    await stop();
    shell.kill("SIGKILL");
  });
  return {
    async run(command) {
      const end = `end-of-command-${++commands}`;
      const output = reading(shell, new RegExp(`\\n${end} (\\d+)\\n`));
      shell.stdin.write(`{ ${command}\n} </dev/null; printf '\\n${end} %s\\n' $?\n`);
      const text = await output;
      const [, code] = new RegExp(`\\n${end} (\\d+)\\n`).exec(text) ?? [];
      return { code: Number(code), output: text.slice(0, text.lastIndexOf(`\n${end}`)) };
    },
    async start(command) {
      await stop();
      const child = spawn("bash", ["-c", strict + command], {
        ...options,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const exited = once(child, "close").then(([code]) => Number(code));
      server = { child, exited };
      await reading(child, listening);
    },
    stop,
  };
}

/** Reads the output of a process until it matches the pattern. */
async function reading(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  return await new Promise((resolve, reject) => {
    const onData = (chunk: unknown) => {
      text += String(chunk);
      if (!pattern.test(text)) return;
      child.stdout?.off("data", onData).resume();
      child.stderr?.off("data", onData).resume();
      child.off("close", onClose);
      resolve(text);
    };
    const onClose = () => reject(new Error(`it ended before it was ready:\n${text}`));
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
    child.once("close", onClose);
  });
}
