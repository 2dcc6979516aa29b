import { syncBuiltinESMExports } from "node:module";
import { mock } from "node:test";
import t, { type Test } from "tap";
import { repeatCycles } from "../../src/runner/schedule.js";
import { testLogger } from "../stores.js";
import { recordingLogger } from "./runs.js";

const minute = 60_000;

/** A clock that stands still until the test moves it. */
function stoppedClock(t: Test) {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  syncBuiltinESMExports();
  t.teardown(() => {
    mock.timers.reset();
    syncBuiltinESMExports();
  });
  /** What is due then happens, one thing after the other. */
  return async (ms: number) => {
    mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
}

t.test("cycles repeat from start to start, also while one takes longer", async (t) => {
  const pass = stoppedClock(t);
  const stop = new AbortController();
  let starts = 0;
  let finish = () => {};
  const cycle = () => {
    starts += 1;
    return starts === 1 ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve();
  };
  const repeating = repeatCycles(cycle, { intervalSeconds: 60, signal: stop.signal, logger: testLogger });
  t.equal(starts, 1, "the first at once");
  for (const wanted of [2, 3, 4]) {
    await pass(minute - 1);
    t.equal(starts, wanted - 1, "none before its time");
    await pass(1);
    t.equal(starts, wanted);
  }
  stop.abort();
  let ended = false;
  const end = repeating.then(() => {
    ended = true;
  });
  await pass(minute);
  t.equal(ended, false, "it waits for the cycle under way");
  finish();
  await end;
  t.equal(starts, 4, "no cycle begins after the abort");
});

t.test("a cycle that fails is logged, and the next one comes", async (t) => {
  const stop = new AbortController();
  const { logger, messages } = recordingLogger();
  let cycles = 0;
  const cycle = async () => {
    cycles += 1;
    if (cycles === 2) stop.abort();
    throw new Error("the database is away");
  };
  await repeatCycles(cycle, { intervalSeconds: 0.01, signal: stop.signal, logger });
  t.same(messages(), ["a run cycle failed", "a run cycle failed"]);
});

t.test("starts that were missed are not made up for", async (t) => {
  const pass = stoppedClock(t);
  const stop = new AbortController();
  let cycles = 0;
  const cycle = async () => {
    cycles += 1;
    // The machine sleeps for five intervals and a half.
    if (cycles === 1) mock.timers.setTime(5.5 * minute);
  };
  const repeating = repeatCycles(cycle, { intervalSeconds: 60, signal: stop.signal, logger: testLogger });
  await pass(0.5 * minute - 1);
  t.equal(cycles, 1);
  await pass(1);
  t.equal(cycles, 2, "in step with the first start");
  await pass(minute - 1);
  t.equal(cycles, 2);
  stop.abort();
  await repeating;
});
