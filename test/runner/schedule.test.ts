import t from "tap";
import { repeatCycles } from "../../src/runner/schedule.js";
import { testLogger } from "../stores.js";
import { recordingLogger, until } from "./runs.js";

t.test("cycles repeat from start to start, also while one takes longer", async (t) => {
  const stop = new AbortController();
  const starts: number[] = [];
  let finish = () => {};
  const cycle = () => {
    starts.push(performance.now());
    return starts.length === 1 ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve();
  };
  const repeating = repeatCycles(cycle, { intervalSeconds: 0.2, signal: stop.signal, logger: testLogger });
  await until("four cycles began", () => starts.length === 4);
  stop.abort();
  const [first = 0, , , fourth = 0] = starts;
  t.ok(fourth - first >= 590, `three intervals lie between: ${fourth - first} ms`);
  let ended = false;
  const end = repeating.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(ended, false, "it waits for the cycle under way");
  finish();
  await end;
  t.equal(starts.length, 4, "no cycle begins after the abort");
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
  t.same(messages(), ["a cycle failed", "a cycle failed"]);
});

t.test("starts that were missed are not made up for", async (t) => {
  const stop = new AbortController();
  let cycles = 0;
  const cycle = async () => {
    cycles += 1;
    // The process stands still for five intervals, as when the machine sleeps.
    const until = performance.now() + 500;
    while (cycles === 1 && performance.now() < until);
    if (cycles === 2) setTimeout(() => stop.abort(), 10);
  };
  await repeatCycles(cycle, { intervalSeconds: 0.1, signal: stop.signal, logger: testLogger });
  t.equal(cycles, 2);
});
