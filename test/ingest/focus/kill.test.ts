/** A load that is killed leaves what counted before, whole; the next one drops what it left behind. */
import t from "tap";
import { childProcess } from "../../runner/child.js";
import { temporaryFolder } from "../../stores.js";
import type { LoadingInput } from "./loading-process.js";

t.test("kill -9 in the middle of a load", async (t) => {
  const folder = temporaryFolder(t);
  let epoch = 0;
  const start = (amount: string, lines: number, stays = false) => {
    epoch += 1;
    const input: LoadingInput = { folder, epoch, amount, lines, stays };
    return childProcess(t, "../ingest/focus/loading-process.ts", input);
  };
  const finished = async (amount: string, lines: number) => {
    const child = start(amount, lines);
    let last: string | undefined;
    for (let line = await child.message(); line !== undefined; line = await child.message()) last = line;
    await child.exited;
    return JSON.parse(last ?? "null");
  };
  const whole = { counted: [{ n: 1, lines: 3 }], held: [{ lines: 3, cost: "3", n: 1 }] };
  t.strictSame(await finished("1", 3), whole);
  let cutOff = 0;
  for (const milliseconds of [0, 200, 600, 1200]) {
    const child = start("2", 60_000, true);
    t.equal(await child.message(), '{"sent":true}');
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill("SIGKILL");
    const [, signal] = await child.exited;
    t.equal(signal, "SIGKILL", `${milliseconds} ms after its last byte`);
    if ((await child.message()) === undefined) cutOff += 1;
    t.strictSame(await finished("1", 3), whole, "the bill from before counts, and nothing else is there");
  }
  t.ok(cutOff > 0, `${cutOff} of 4 loads were cut off`);
});
