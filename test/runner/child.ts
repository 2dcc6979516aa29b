import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { programArguments } from "../../src/common/program.js";

/**
 * Starts a script, named as in an import from this folder, as a process of its own. Its input is JSON in argv, and its
 * output is read line by line.
 */
export function childProcess(t: Test, script: string, input: unknown) {
  const child = spawn(
    process.execPath,
    [...programArguments(script, import.meta.url), JSON.stringify(input)],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_OPTIONS: "" },
    },
  );
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  t.teardown(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Returns the next line of output, or undefined after its end. */
    async message(): Promise<string | undefined> {
      const next = await lines.next();
      return next.done === true ? undefined : String(next.value);
    },
  };
}
