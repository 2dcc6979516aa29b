/**
 * `npm run soak -- --kills 200`: kills a worker, its engine, its Postgres or all of them, so many times, each at a random moment of a
 * run, and holds what is left against the bills. The test suite does the same a few times. Exits with 1 when anything was off.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { kills: { type: "string", default: "200" } } });
if (!/^[1-9]\d{0,5}$/.test(values.kills)) {
  console.error(`--kills: a whole number from 1 to 999999, not ${values.kills}`);
  process.exit(2);
}
const root = fileURLToPath(new URL("..", import.meta.url));
const child = spawn(process.execPath, ["--import=tsx", "test/runner/kill.test.ts"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, KILL_ROUNDS: values.kills, TAP_TIMEOUT: "0" },
});
const [code] = await once(child, "exit");
process.exit(code === 0 ? 0 : 1);
