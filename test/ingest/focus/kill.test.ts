/**
 * A killed load leaves one complete bill: the one before, or the new one if it had just been committed. The next load
 * drops the remains.
 */
import t from "tap";
import { childProcess } from "../../runner/child.js";
import { temporaryFolder } from "../../stores.js";
import type { LoadingInput } from "./loading-process.js";

const LINES = 60_000;
/** A bill whose lines have this cost. */
const bill = (amount: number) => ({ lines: LINES, cost: String(amount * LINES), deliveries: 1 });

t.test("a kill -9 in the middle of a load leaves a consistent state", async (t) => {
  const folder = temporaryFolder(t);
  let epoch = 0;
  const start = (amount: string, stays: boolean) => {
    epoch += 1;
    const input: LoadingInput = { folder, epoch, amount, lines: LINES, stays };
    return childProcess(t, "../ingest/focus/loading-process.js", input);
  };
  /** Loads the bill of ones completely. Returns what counted before, and what counts and is stored then. */
  const finished = async () => {
    const child = start("1", false);
    let said: Record<string, unknown> = {};
    for (let line = await child.message(); line !== undefined; line = await child.message())
      said = { ...said, ...JSON.parse(line) };
    await child.exited;
    return said;
  };
  const whole = { counted: [bill(1)], held: [bill(1)] };
  t.strictSame(await finished(), { before: [{ lines: 0, cost: "0", deliveries: 0 }], sent: true, ...whole });
  let cutOff = 0;
  for (const milliseconds of [0, 200, 600, 1200]) {
    const child = start("2", true);
    t.strictSame(JSON.parse((await child.message()) ?? "null"), { before: [bill(1)] });
    t.equal(await child.message(), '{"sent":true}');
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill("SIGKILL");
    const [, signal] = await child.exited;
    t.equal(signal, "SIGKILL", `the process was killed ${milliseconds} ms after its last byte`);
    const ended = await child.message();
    const next = await finished();
    const old = JSON.stringify(next.before) === JSON.stringify([bill(1)]);
    if (old) cutOff += 1;
    t.equal(old && ended !== undefined, false, "a load that reported its end counts");
    t.strictSame(
      next,
      old ? { before: [bill(1)], ...whole } : { before: [bill(2)], sent: true, ...whole },
      old ? "the bill from before counts" : "the new bill counts, and was replaced",
    );
  }
  t.ok(cutOff > 0, `${cutOff} of 4 loads were interrupted`);
});

t.test("a kill -9 beside the statements by which a bill expires leaves a consistent state", async (t) => {
  const folder = temporaryFolder(t);
  let epoch = 0;
  const start = (input: Partial<LoadingInput>) => {
    epoch += 1;
    const process = { folder, epoch, amount: "1", lines: 2, stays: false, ...input };
    return childProcess(t, "../ingest/focus/loading-process.js", process);
  };
  const said = async (child: ReturnType<typeof start>) => {
    let all: Record<string, unknown> = {};
    for (let line = await child.message(); line !== undefined; line = await child.message())
      all = { ...all, ...JSON.parse(line) };
    const [code, signal] = await child.exited;
    return { ...all, ended: signal ?? code };
  };
  const whole = { lines: 2, cost: "2", deliveries: 1 };
  const none = { lines: 0, cost: "0", deliveries: 0 };
  const loaded = { before: [none], sent: true, counted: [whole], held: [whole], ended: 0 };
  t.strictSame(await said(start({})), loaded);
  const keepFrom = "2026-06-01";
  for (const [name, store, statement, when, left] of [
    ["before the record", "postgres", "state = 'expired'", "before", whole],
    ["after the record", "postgres", "state = 'expired'", "after", none],
    ["before the lines go", "clickhouse", "focus_lines\\W* DROP PARTITION", "before", none],
    ["before the sums go", "clickhouse", "focus_text_sums\\W* DROP PARTITION", "before", none],
  ] as const) {
    const point = { name, store, statements: [statement], when };
    const died = await said(start({ keepFrom, point }));
    t.strictSame(died, { before: [whole], hit: name, ended: "SIGKILL" }, name);
    const repaired = { before: [left], counted: [none], held: [none], ended: 0 };
    t.strictSame(
      await said(start({ keepFrom })),
      repaired,
      "the next run finishes the expiry, and reads nothing",
    );
    t.strictSame(await said(start({})), loaded, "the bill is read again if the retention is longer");
  }
});
