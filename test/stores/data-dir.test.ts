import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t from "tap";
import { programArguments } from "../../src/common/program.js";
import { claimDataDir, DataDirInUseError } from "../../src/stores/data-dir.js";
import { ourselves, processStart } from "../../src/stores/data-dir-owner.js";
import { holds } from "../holds.js";

const RACER = programArguments("./data-dir-racer.js", import.meta.url);

const folder = mkdtempSync(join(tmpdir(), "chargehouse-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** The pid file of a process that has ended. */
async function deadClaim(): Promise<string> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
  const pid = child.pid ?? 0;
  const claim = JSON.stringify({ ...ourselves(), pid, started: processStart(pid), nonce: "dead" });
  child.kill("SIGKILL");
  await once(child, "exit");
  return claim;
}

/** The pid file of a process that is not visible from here. */
const claimOutOfSight = () =>
  JSON.stringify({ ...ourselves(), pid: 1, host: "another", namespace: "pid:[1]", nonce: "away" });

t.test("a claim creates a private directory with nothing but the pid file", async (t) => {
  const dataDir = join(folder, "new/deep");
  const claim = claimDataDir(dataDir);
  t.equal(claim.dataDir, dataDir);
  holds(t, JSON.parse(readFileSync(join(dataDir, "chargehouse.pid"), "utf8")), { pid: process.pid });
  t.strictSame(readdirSync(dataDir), ["chargehouse.pid"]);
  claim.release();
  claim.release();
  t.strictSame(readdirSync(dataDir), []);
});

t.test("an owned directory is refused with pid and path, and not touched", async (t) => {
  const dataDir = join(folder, "owned");
  const claim = claimDataDir(dataDir);
  const before = readFileSync(join(dataDir, "chargehouse.pid"), "utf8");
  t.throws(() => claimDataDir(dataDir), {
    code: "data_dir_in_use",
    pid: process.pid,
    message: `The data directory ${dataDir} is in use by process ${process.pid}: stop that process, or set another data_dir.`,
  });
  t.equal(readFileSync(join(dataDir, "chargehouse.pid"), "utf8"), before);
  t.strictSame(readdirSync(dataDir), ["chargehouse.pid"]);
  claim.release();
  claimDataDir(dataDir).release();
});

t.test("the claim of a dead owner is taken over", async (t) => {
  const cases: Record<string, string> = {
    "a process that has ended": await deadClaim(),
    "a pid that another process has now": JSON.stringify({ ...ourselves(), pid: process.ppid, started: "1" }),
    "a process from before the machine was restarted": JSON.stringify({
      ...ourselves(),
      boot: "another",
      namespace: "",
    }),
    "an empty file": "",
    "no claim of ours": "[]",
  };
  for (const [name, content] of Object.entries(cases)) {
    const dataDir = mkdtempSync(join(folder, "dead-"));
    writeFileSync(join(dataDir, "chargehouse.pid"), content);
    const claim = claimDataDir(dataDir);
    holds(t, JSON.parse(readFileSync(join(dataDir, "chargehouse.pid"), "utf8")), { pid: process.pid }, name);
    claim.release();
  }
});

t.test("the claim of a process that died during a takeover is taken over", async (t) => {
  const dataDir = mkdtempSync(join(folder, "takeover-"));
  writeFileSync(join(dataDir, "chargehouse.pid"), await deadClaim());
  writeFileSync(join(dataDir, "chargehouse.pid.takeover"), await deadClaim());
  const claim = claimDataDir(dataDir);
  t.strictSame(readdirSync(dataDir), ["chargehouse.pid"]);
  claim.release();
});

t.test("an owner in another container is detected by its heartbeat", async (t) => {
  const dataDir = mkdtempSync(join(folder, "container-"));
  const file = join(dataDir, "chargehouse.pid");
  writeFileSync(file, claimOutOfSight());
  const touch = `setInterval(() => require("node:fs").utimesSync(${JSON.stringify(file)}, new Date(), new Date()), 50)`;
  const owner = spawn(process.execPath, ["-e", touch]);
  t.throws(() => claimDataDir(dataDir), { code: "data_dir_in_use", pid: 1 });
  owner.kill("SIGKILL");
  await once(owner, "exit");
  const claim = claimDataDir(dataDir, { patienceMs: 300 });
  holds(t, JSON.parse(readFileSync(file, "utf8")), { pid: process.pid });
  claim.release();
});

t.test("an owner touches its pid file repeatedly", async (t) => {
  const dataDir = mkdtempSync(join(folder, "heartbeat-"));
  const claim = claimDataDir(dataDir);
  const watch = `
    const { statSync } = require("node:fs"), file = ${JSON.stringify(join(dataDir, "chargehouse.pid"))};
    const before = statSync(file).mtimeMs;
    setInterval(() => { if (statSync(file).mtimeMs !== before) process.exit(7); }, 50);`;
  const watcher = spawn(process.execPath, ["-e", watch]);
  const [code] = await once(watcher, "exit");
  t.equal(code, 7);
  claim.release();
});

t.test("a release removes only the process's own claim", async (t) => {
  const dataDir = mkdtempSync(join(folder, "release-"));
  const claim = claimDataDir(dataDir);
  writeFileSync(join(dataDir, "chargehouse.pid"), "somebody else's");
  claim.release();
  t.ok(existsSync(join(dataDir, "chargehouse.pid")));
});

t.test("of processes that start at the same time, exactly one gets a directory", async (t) => {
  const rounds = 60;
  const dead = await deadClaim();
  for (let round = 0; round < rounds; round++) {
    mkdirSync(join(folder, `race-${round}`));
    // Half of them are new, half have a dead owner.
    if (round % 2 === 0) writeFileSync(join(folder, `race-${round}`, "chargehouse.pid"), dead);
  }
  const racers = Array.from({ length: 4 }, () => new Racer(folder));
  t.teardown(() => racers.map((racer) => racer.child.kill("SIGKILL")));
  await Promise.all(racers.map((racer) => racer.next()));
  for (let round = 0; round < rounds; round++) {
    writeFileSync(join(folder, `go-${round}`), "");
    const responses = await Promise.all(racers.map((racer) => racer.next()));
    const winners = responses.filter((response) => response === "won");
    if (winners.length !== 1) t.fail(`round ${round}: ${responses.join(", ")}`);
    const left = readdirSync(join(folder, `race-${round}`));
    if (left.length !== 1) t.fail(`round ${round} left ${left.join(", ")}`);
  }
  t.throws(() => claimDataDir(join(folder, "race-0")), DataDirInUseError);
  for (const racer of racers) racer.child.kill("SIGKILL");
  await Promise.all(racers.map((racer) => racer.ended));
  claimDataDir(join(folder, "race-0")).release();
  t.pass(`${rounds} rounds`);
});

/**
 * Starts a process that claims one directory after the other, each as soon as the file that starts the round exists.
 */
class Racer {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;
  constructor(folder: string) {
    const child = spawn(process.execPath, [...RACER, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.child = child;
    this.ended = once(child, "exit");
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }
  async next(): Promise<string> {
    const line = await this.#lines.next();
    return line.done === true ? "ended" : line.value;
  }
}
