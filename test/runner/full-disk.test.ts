/** Disks that fill up: a run ends, says so, and is counted against nobody; nothing half is seen, and the next run needs nobody. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { observeAll } from "../../src/runner/observe.js";
import { openStores } from "../../src/store/open-stores.js";
import { csvEmitter, emissionsOf, linesOf, namesIn, withEmitters } from "../emit/emitting.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import {
  daysBefore,
  reconciled,
  recordingObserver,
  rowsOf,
  runContext,
  runOnce,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const MIB = 2 ** 20;
const days = [2, 3, 4].map(daysBefore).sort();
/** In CI nothing is skipped. */
const mounts = {
  skip: process.getuid?.() !== 0 && process.env.CI === undefined && "needs root, to mount a small disk",
};

/** A disk of its own, in memory. */
function smallDisk(t: Test, folder: string, mib: number) {
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m,mode=0711`, "tmpfs", folder]);
  t.teardown(() => execFileSync("umount", ["--lazy", folder]));
  const ballast = join(folder, "ballast");
  return {
    /** Leaves so many bytes, roughly. */
    fill(left: number) {
      const { bavail, bsize } = statfsSync(folder);
      execFileSync("fallocate", ["-l", String(Math.max(bavail * bsize - left, 1)), ballast]);
    },
    empty: () => rmSync(ballast, { force: true }),
  };
}

t.test("the disk of the embedded stores is full", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const disk = smallDisk(t, join(folder, "data"), 400);
  const settings = ["allocation_retry_limit: 1", "gather_failure_threshold: 1"];
  const config = testConfig(`data_dir: ${folder}/data\n${shortTenants(["acme"], settings)}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const { upstream, ecosystems } = scriptedUpstream();
  const run = async (amount: number) => {
    for (const day of days) upstream.bill.set(day, { "r-1": String(amount) });
    const { observer, events } = recordingObserver();
    const { status, errors } = await runOnce(
      runContext(stores, { ecosystems, observer: observeAll([observer]) }),
      config,
      "acme",
    );
    const isGathered = events.some((event) => event.startsWith("acme gathered"));
    return { ended: [status, ...errors.map(({ message }) => message)], isGathered };
  };
  const completed = async (amount: number) => (await run(amount)).ended.join() === "completed";
  const charged = async () => {
    const sums =
      "SELECT toString(day) AS day, toString(sum(amount_hi + amount_lo)) AS amount FROM chargebacks GROUP BY day ORDER BY day";
    const found = await rowsOf<{ day: string; amount: string }>(stores, "acme", sums);
    return found.map(({ day, amount }) => `${day} ${amount}`);
  };
  const allAt = (amount: number) => days.map((day) => `${day} ${amount}`);

  t.ok(await completed(100));
  const stages = new Set<string>();
  for (let step = 0, amount = 100; ; step += 1) {
    disk.fill(step * MIB * 0.25);
    amount += 1;
    const { ended, isGathered } = await run(amount);
    disk.empty();
    if (ended.join() === "completed") {
      t.strictSame(await charged(), allAt(amount), "there was room enough");
      break;
    }
    const room = `${step / 4} MiB left`;
    t.match(ended.join("\n"), /^failed\nClickHouse cannot work now: [^\n]*space[^\n]*$/, room);
    stages.add(isGathered ? "calculating and publishing" : "gathering");
    const { off } = await reconciled(stores, "acme");
    const state = await charged();
    t.ok(
      [allAt(amount - 1), allAt(amount)].some((each) => each.join() === state.join()),
      `${room}: ${state.join()}`,
    );
    t.strictSame(off, [], `${room}: every day adds up`);
    for (const day of days)
      t.equal((await trackingDate(stores, "acme", day)).allocation_attempts, 0, "no day is to blame");
    const { rows } = await stores.postgres.query("SELECT gather_failures, suspended_at FROM tenants");
    t.strictSame(rows, [{ gather_failures: 0, suspended_at: null }], "nor is the upstream");

    t.ok(await completed(amount), "with room, the next run does it");
    t.strictSame(await charged(), allAt(amount));
  }
  t.strictSame([...stages].sort(), ["calculating and publishing", "gathering"]);
});

t.test("the disk of an emitter is full", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, "out");
  const disk = smallDisk(t, out, 1);
  const plain = testConfig(`data_dir: ${folder}/data\n${shortTenants(["acme"])}`, folder);
  const config = withEmitters(plain, "acme", [csvEmitter(out)]);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const { upstream, ecosystems } = scriptedUpstream();
  for (const day of days) upstream.bill.set(day, { "r-1": "100" });
  const run = () => runOnce(runContext(stores, { ecosystems }), config, "acme");

  disk.fill(0);
  const { errors } = await run();
  disk.empty();
  t.match(
    errors.map(({ message }) => message).join("\n"),
    new RegExp(
      `^emitter csv [^\n]* failed for 3 files, the first of ${days[0]}: A disk cannot work now: ENOSPC[^\n]*$`,
    ),
  );
  t.strictSame(namesIn(out), [], "no half of a file");
  t.strictSame(
    await emissionsOf(stores, "acme"),
    days.map((day) => `csv chargeback ${day} failed 1`),
  );
  t.strictSame((await run()).errors, []);
  t.strictSame(
    namesIn(out),
    days.map((day) => `acme_${day}.csv`),
  );
  t.equal(linesOf(out, `acme_${days[0]}.csv`).length, 2);
});
