/**
 * Runs the named test files, or all but the long ones, or all with `--all`. The sources are compiled once, and each
 * test file is a process that runs the compiled code. tap's own command compiles in each process and loads its coverage
 * measurement into each, which takes longer than many of the files.
 *
 * The output is TAP; on a terminal it is tap's report. `--times FILE` writes the processor time of each test file to a
 * file.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, normalize, resolve } from "node:path";
import { parseArgs } from "node:util";
import { t } from "tap";
import { projectRoot } from "../src/common/project.js";
import { compileProject, filesBelow } from "../test/compiled.js";
import { longTests } from "../test/long-tests.js";
import { memoryFolder } from "../test/memory-folder.js";
import { MIGRATED_CLICKHOUSE, makeMigratedClickHouse } from "../test/migrated-clickhouse.js";
import { MIGRATED_POSTGRES, makeMigratedPostgres } from "../test/migrated-postgres.js";

/** More than cores, because tests wait for engines and clocks. */
const JOBS = Math.max(4, 2 * availableParallelism());
const TIMEOUT_S = 900;

const root = projectRoot();
process.chdir(root);
const tests = filesBelow("test", ".test.ts");
const { values: options, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false }, times: { type: "string" } },
  allowPositionals: true,
});
const named = positionals.map((file) => normalize(file));
const long = longTests.map(({ file }) => join("test", file));
const unknown = [...named, ...long].filter((file) => !tests.includes(file));
if (unknown.length > 0) {
  console.error(`No test files: ${unknown.join(", ")}. They are called as test/http/tags.test.ts.`);
  process.exit(1);
}
const chosen = named.length > 0 ? named : tests.filter((file) => options.all || !long.includes(file));

/**
 * In the project, so that the compiled files find modules and the project. A folder per run, because two runs may
 * overlap.
 */
const parent = join(root, ".compiled");
mkdirSync(parent, { recursive: true });
const compiled = mkdtempSync(join(parent, "run-"));
const data = memoryFolder() ?? mkdtempSync(join(tmpdir(), "chargehouse-tests-"));
const migrated = { postgres: join(data, "migrated-postgres"), clickhouse: join(data, "migrated-clickhouse") };
for (const folder of Object.values(migrated)) mkdirSync(folder);
process.on("exit", () => {
  for (const folder of [compiled, data]) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

t.setTimeout(0);
await compileProject(root, ["src", "test", "scripts", "bench"], compiled);

if (process.stdout.isTTY) {
  const report = spawn("tap", ["-"], { stdio: ["pipe", "inherit", "inherit"] });
  t.pipe(report.stdin);
} else t.pipe(process.stdout);

await makeMigratedPostgres(migrated.postgres);
await makeMigratedClickHouse(migrated.clickhouse, migrated.postgres);
const env = {
  ...process.env,
  TMPDIR: data,
  [MIGRATED_POSTGRES]: migrated.postgres,
  [MIGRATED_CLICKHOUSE]: migrated.clickhouse,
  TAP_TIMEOUT: String(TIMEOUT_S),
};

/** Writes user and system time of the file's processes, in seconds, and the file's name. */
const timed = (times: string, file: string) => [
  "bash",
  "-c",
  `TIMEFORMAT="%U %S $0"; { time "$@" 2>&3; } 3>&2 2>>'${resolve(times)}'`,
  file,
];

t.jobs = JOBS;
t.plan(chosen.length);
for (const file of chosen) {
  const program = join(compiled, file.replace(/\.ts$/, ".js"));
  const timing = options.times === undefined ? [] : timed(options.times, file);
  // tap passes its coverage measurement on in NODE_OPTIONS.
  const command = ["-u", "NODE_OPTIONS", ...timing, process.execPath, "--enable-source-maps", program];
  t.spawn("env", command, { name: file, env, timeout: TIMEOUT_S * 1000, buffered: true });
}
