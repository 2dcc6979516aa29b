/**
 * With a full disk, a run fails with the reason and counts as nobody's failure, no partial data is visible, and the
 * next run needs no manual step.
 */
import { join } from "node:path";
import t from "tap";
import { notifyAll } from "../../src/runner/run-events.js";
import { openStores } from "../../src/stores/open-stores.js";
import { csvEmitter, emissionsOf, emittedLines, namesIn, withEmitters } from "../export/emitters/emitting.js";
import { mounts, smallDisk } from "../small-disk.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import {
  chargedByDay,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const days = [2, 3, 4].map(daysBefore).sort();
t.test("a run on a full disk of the embedded stores fails and recovers", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const disk = smallDisk(t, join(folder, "data"), 400);
  const settings = ["allocation_retry_limit: 1", "gather_failure_threshold: 1"];
  const config = testConfig(`data_dir: ${folder}/data\n${shortTenants(["acme"], settings)}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const { upstream, ecosystems } = scriptedUpstream();
  /** `onGathered` is called between gathering and calculation. */
  const run = async (amount: number, onGathered = () => {}) => {
    for (const day of days) upstream.bill.set(day, { "r-1": String(amount) });
    let isGathered = false;
    const gathered = () => {
      isGathered = true;
      onGathered();
    };
    const context = runContext(stores, { ecosystems, observer: notifyAll([{ gathered }]) });
    const { status, errors } = await runOnce(context, config, "acme");
    return { ended: [status, ...errors.map(({ message }) => message)], isGathered };
  };
  const completed = async (amount: number) => (await run(amount)).ended.join() === "completed";
  const charged = () => chargedByDay(stores, "acme");
  const allAt = (amount: number) => days.map((day) => `${day} ${amount}`);

  t.ok(await completed(100));
  let amount = 100;
  for (const [when, whenGathered] of [
    ["before the run", false],
    ["once it has gathered", true],
  ] as const) {
    amount += 1;
    if (!whenGathered) disk.fill();
    const { ended, isGathered } = await run(amount, whenGathered ? disk.fill : undefined);
    disk.empty();
    t.equal(isGathered, whenGathered, `full ${when}`);
    t.match(
      ended.join("\n"),
      /^failed\nClickHouse cannot work now: [^\n]*space[^\n]* \(free space on its disk; the service then continues by itself\)$/,
      when,
    );
    const { off } = await reconciled(stores, "acme");
    t.strictSame(await charged(), allAt(amount - 1), `${when}: what was published stays`);
    t.strictSame(off, [], `${when}: every day adds up`);
    for (const day of days)
      t.equal((await trackingDate(stores, "acme", day)).allocation_attempts, 0, "no day is to blame");
    const { rows } = await stores.postgres.query("SELECT gather_failures, suspended_at FROM tenants");
    t.strictSame(rows, [{ gather_failures: 0, suspended_at: null }], "nor is the upstream");

    t.ok(await completed(amount), "with room, the next run does it");
    t.strictSame(await charged(), allAt(amount));
  }
});

t.test("a full disk of an emitter does not affect published days", mounts, async (t) => {
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

  disk.fill();
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
  t.equal(emittedLines(out, `acme_${days[0]}.csv`).length, 2);
});
