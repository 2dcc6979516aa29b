import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import t, { type Test } from "tap";
import { programArguments } from "../../src/common/program.js";
import { processStart } from "../../src/stores/data-dir-owner.js";
import { until } from "../until.js";
import { postgresFolder, startTestPostgres } from "./temporary.js";

const OWNER = programArguments("./owner-process.js", import.meta.url);

interface Owner {
  child: ChildProcess;
  ended: Promise<unknown>;
  next(): Promise<string>;
}

function startOwner(t: Test, dataDir: string): Owner {
  const child = spawn(process.execPath, [...OWNER, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    const line = await lines.next();
    return line.done === true ? "ended" : line.value;
  };
  return { child, ended: once(child, "exit"), next };
}

/** A dead process that no parent has waited for does not count. */
const isAlive = (pid: number) => processStart(pid) !== undefined;

/** This shell stops the server after the owner has ended. */
function guardOf({ child: { pid } }: Owner): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const guards = children.filter((child) => readFileSync(`/proc/${child}/comm`, "utf8") === "sh\n");
  if (guards.length !== 1) throw new Error(`${guards.length} shells among the children ${children}`);
  return Number(guards[0]);
}

for (const isGuarded of [true, false]) {
  const what = isGuarded
    ? "after kill -9 of the owner its server ends by itself"
    : "after kill -9 of the owner and of what ends its server, the next start ends it";
  t.test(`${what}, and every acknowledged row is there`, async (t) => {
    const dataDir = postgresFolder(t);
    const owner = startOwner(t, dataDir);
    const postmaster = Number((await owner.next()).replace("postmaster ", ""));
    let acked = 0;
    while (acked < 200) acked = Number(await owner.next());
    const guard = guardOf(owner);
    if (!isGuarded) process.kill(guard, "SIGKILL");
    owner.child.kill("SIGKILL");
    await owner.ended;
    if (isGuarded) await until("the end of the postmaster", () => !isAlive(postmaster));
    else t.ok(isAlive(postmaster), "the postmaster outlives its parent");
    t.notOk(isAlive(guard));

    const postgres = await startTestPostgres(t, { dataDir });
    t.notOk(isAlive(postmaster));
    t.not(postgres.pid, postmaster);
    const client = new pg.Client(postgres.connection);
    await client.connect();
    const { rows } = await client.query("SELECT count(*)::int AS n FROM acked WHERE n <= $1", [acked]);
    await client.end();
    t.strictSame(rows, [{ n: acked }]);
  });
}

t.test("a second owner is refused, and the first one's server does not notice", async (t) => {
  const dataDir = postgresFolder(t);
  const first = startOwner(t, dataDir);
  const postmaster = Number((await first.next()).replace("postmaster ", ""));
  await first.next();
  const second = startOwner(t, dataDir);
  t.equal(
    await second.next(),
    `The data directory ${dataDir} is in use by process ${first.child.pid}: stop that process, or set another data_dir.`,
  );
  await second.ended;
  t.match(await first.next(), /^\d+$/, "the first owner continues to write");
  t.ok(isAlive(postmaster));
  const guard = guardOf(first);
  first.child.kill("SIGTERM");
  await first.ended;
  t.notOk(isAlive(postmaster), "an owner that ends normally stops its server");
  t.notOk(isAlive(guard));
});

t.test("of two owners that start together, one serves and one is refused", async (t) => {
  const dataDir = postgresFolder(t);
  const owners = [startOwner(t, dataDir), startOwner(t, dataDir)];
  const responses = await Promise.all(owners.map((owner) => owner.next()));
  t.strictSame(responses.map((response) => response.split(" ")[0]).sort(), ["The", "postmaster"]);
  for (const owner of owners) owner.child.kill("SIGTERM");
  await Promise.all(owners.map((owner) => owner.ended));
});

t.test("an uncaught exception in the owner ends the server as well", async (t) => {
  const dataDir = postgresFolder(t);
  const owner = startOwner(t, dataDir);
  const postmaster = Number((await owner.next()).replace("postmaster ", ""));
  owner.child.kill("SIGUSR2"); // owner-process.ts prints this.
  await owner.ended;
  await until("the end of the postmaster", () => !isAlive(postmaster));
  t.pass("ended");
});

t.test("a stale pid file does not prevent a start, even if another process has its pid", async (t) => {
  const dataDir = postgresFolder(t);
  const file = join(dataDir, "postgres/postmaster.pid");
  const first = await startTestPostgres(t, { dataDir });
  const ofServer = readFileSync(file, "utf8");
  await first.stop();

  const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  t.teardown(() => stranger.kill("SIGKILL"));
  for (const pid of [String(stranger.pid), "999999999"]) {
    writeFileSync(file, ofServer.replace(/^\d+/, pid));
    const postgres = await startTestPostgres(t, { dataDir });
    t.match(readFileSync(file, "utf8"), new RegExp(`^${postgres.pid}\n`));
    await postgres.stop();
  }
  t.ok(isAlive(stranger.pid ?? 0), "a process that is not our server is left alone");
});

t.test("children of a killed postmaster are waited for", async (t) => {
  const dataDir = postgresFolder(t);
  const owner = startOwner(t, dataDir);
  const postmaster = Number((await owner.next()).replace("postmaster ", ""));
  process.kill(guardOf(owner), "SIGKILL");
  owner.child.kill("SIGKILL");
  await owner.ended;
  process.kill(postmaster, "SIGKILL");
  const postgres = await startTestPostgres(t, { dataDir });
  t.ok(isAlive(postgres.pid));
});
