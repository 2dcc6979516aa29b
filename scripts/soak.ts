/**
 * `npm run soak`: repeats tests of the suite many times. `--kills N` kills a worker, its engine, its Postgres or all of
 * them at random moments of a run, and compares the remaining data with the bills. `--lease-rounds N` compares the
 * lease of a tenant with a model. `--workers N` stops and kills workers that share ten tenants; each round takes a
 * minute or more. `--leaks MINUTES` counts handles, tables, parts and files while the service is under load, after ten
 * minutes that do not count, and compares its memory at rest before, halfway and after, each of which takes ten minutes
 * more. Without options, the first two run.
 *
 * Exits with 1 if anything failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const tests = {
  kills: { file: "test/runner/kill.test.ts", variable: "KILL_ROUNDS", usual: "200" },
  "lease-rounds": { file: "test/runner/lease-model.test.ts", variable: "LEASE_ROUNDS", usual: "10000" },
  workers: { file: "test/runner/workers.test.ts", variable: "WORKER_ROUNDS", usual: undefined },
  leaks: { file: "test/leaks/leaks.test.ts", variable: "LEAK_MINUTES", usual: undefined },
} as const;

const usage = "npm run soak -- [--kills N] [--lease-rounds N] [--workers N] [--leaks MINUTES]";
const { values } = parseArgs({
  options: {
    kills: { type: "string" },
    "lease-rounds": { type: "string" },
    workers: { type: "string" },
    leaks: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const names = Object.keys(tests) as (keyof typeof tests)[];
const isAnyGiven = names.some((name) => values[name] !== undefined);
const chosen = names.flatMap((name) => {
  const rounds = values[name] ?? (isAnyGiven ? undefined : tests[name].usual);
  return rounds === undefined ? [] : [{ name, rounds }];
});
for (const { name, rounds } of chosen) {
  if (/^[1-9]\d{0,5}$/.test(rounds)) continue;
  console.error(`--${name}: a whole number from 1 to 999999, not ${rounds}\n${usage}`);
  process.exit(2);
}
const root = fileURLToPath(new URL("..", import.meta.url));
for (const { name, rounds } of chosen) {
  const { file, variable } = tests[name];
  const child = spawn(process.execPath, ["--import=tsx", file], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, [variable]: rounds, TAP_TIMEOUT: "0" },
  });
  const [code] = await once(child, "exit");
  if (code !== 0) process.exitCode = 1;
}
