/**
 * A load that is killed leaves a bill whole: the one from before, or the new one when it was just done. The next load
 * drops whatever else is there.
 */
import t from "tap";
import { childProcess } from "../../runner/child.js";
import { temporaryFolder } from "../../stores.js";
import type { LoadingInput } from "./loading-process.js";

const LINES = 60_000;
/** A bill whose lines cost so much each. */
const bill = (amount: number) => ({ lines: LINES, cost: String(amount * LINES), deliveries: 1 });

t.test("kill -9 in the middle of a load", async (t) => {
  const folder = temporaryFolder(t);
  let epoch = 0;
  const start = (amount: string, stays: boolean) => {
    epoch += 1;
    const input: LoadingInput = { folder, epoch, amount, lines: LINES, stays };
    return childProcess(t, "../ingest/focus/loading-process.js", input);
  };
  /** Loads the bill of ones, to its end: what counted before, and what counts and is held then. */
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
    t.equal(signal, "SIGKILL", `${milliseconds} ms after its last byte`);
    const ended = await child.message();
    const next = await finished();
    const old = JSON.stringify(next.before) === JSON.stringify([bill(1)]);
    if (old) cutOff += 1;
    t.equal(old && ended !== undefined, false, "a load that said that it had ended counts");
    t.strictSame(
      next,
      old ? { before: [bill(1)], ...whole } : { before: [bill(2)], sent: true, ...whole },
      old ? "the bill from before counts" : "the new bill counts, and was replaced",
    );
  }
  t.ok(cutOff > 0, `${cutOff} of 4 loads were cut off`);
});
