/** Commands whose output cannot be written. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import t from "tap";
import { programArguments } from "../../src/common/program.js";

/** Runs a line of bash, in which `"$0" "$@"` is the program. */
async function shell(line: string) {
  const program = programArguments("../../src/main.js", import.meta.url);
  const env = { ...process.env, NODE_OPTIONS: "" };
  const child = spawn("/bin/bash", ["-c", line, process.execPath, ...program], { env });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const [exit] = await once(child, "close");
  return { exit, stderr };
}

t.test("a command whose result cannot be written fails with the reason", async (t) => {
  t.strictSame(await shell('"$0" "$@" run --help > /dev/full'), {
    exit: 1,
    stderr: "standard output cannot be written: ENOSPC: no space left on device, write\n",
  });
});

t.test("a command does not fail if its reader stops early", async (t) => {
  const line = 'set -o pipefail; "$0" "$@" run --help | true';
  t.strictSame(await shell(line), { exit: 0, stderr: "" });
});

t.test("a command whose errors cannot be written keeps its exit code", async (t) => {
  t.strictSame(await shell('"$0" "$@" frobnicate 2> /dev/full'), { exit: 2, stderr: "" });
});
