import t from "tap";
import { createBackupLock } from "../../src/stores/backup-lock.js";

const never = new AbortController().signal;

/** Starts work that continues until it is ended, and logs its order. */
function steps() {
  const log: string[] = [];
  const work = (name: string) => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const run = async () => {
      log.push(`${name} begins`);
      await ended;
      log.push(`${name} ends`);
      return name;
    };
    return { run, end };
  };
  return { log, work };
}

t.test("changes run concurrently, and exclusive work runs alone", async (t) => {
  const lock = createBackupLock();
  const { log, work } = steps();
  const [one, two, three, pause, late] = ["one", "two", "three", "pause", "late"].map(work);
  if (!one || !two || !three || !pause || !late) throw new Error("five works");
  const begun = [lock.shared(one.run, never), lock.shared(two.run, never)];
  await new Promise(setImmediate);
  t.strictSame(log, ["one begins", "two begins"]);
  const paused = lock.exclusive(pause.run, never);
  const waiting = lock.shared(three.run, never);
  const second = lock.exclusive(late.run, never);
  two.end();
  await new Promise(setImmediate);
  t.strictSame(
    log.splice(0),
    ["one begins", "two begins", "two ends"],
    "exclusive work waits for changes that have begun",
  );
  one.end();
  t.strictSame(await Promise.all(begun), ["one", "two"]);
  await new Promise(setImmediate);
  t.strictSame(log.splice(0), ["one ends", "pause begins"]);
  pause.end();
  three.end();
  late.end();
  t.strictSame(await Promise.all([paused, waiting, second]), ["pause", "three", "late"]);
  t.equal(log[0], "pause ends");
  t.strictSame(log.slice(1), ["three begins", "three ends", "late begins", "late ends"]);
});

t.test("waiting can be cancelled, and failed work releases the lock", async (t) => {
  const lock = createBackupLock();
  const { log, work } = steps();
  const [long, never1] = ["long", "not begun"].map(work);
  if (!long || !never1) throw new Error("two works");
  const stop = new AbortController();
  const change = lock.shared(long.run, never);
  const pause = lock.exclusive(never1.run, stop.signal);
  const behind = lock.shared(never1.run, stop.signal);
  stop.abort(new Error("given up"));
  await t.rejects(pause, /given up/);
  await t.rejects(behind, /given up/);
  await t.rejects(lock.shared(never1.run, stop.signal), /given up/);
  long.end();
  t.equal(await change, "long");
  await t.rejects(
    lock.exclusive(() => Promise.reject(new Error("no disk")), never),
    /no disk/,
  );
  await t.rejects(
    lock.shared(() => Promise.reject(new Error("no store")), never),
    /no store/,
  );
  t.equal(await lock.exclusive(async () => "free again", never), "free again");
  t.strictSame(log, ["long begins", "long ends"]);
});
