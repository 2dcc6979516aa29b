/** An upload that is killed counts whole or not at all; sent again under its key, it counts once. */
import t from "tap";
import { childProcess } from "../runner/child.js";
import { temporaryFolder } from "../stores.js";
import type { CountingUploads } from "./counting-uploads.js";
import type { UploadingInput } from "./uploading-process.js";

const ROWS = 60_000;

t.test("a kill -9 in the middle of an upload leaves a consistent state", async (t) => {
  const folder = temporaryFolder(t);
  const start = (changes: Pick<UploadingInput, "key" | "quantity" | "stays">) => {
    const input: UploadingInput = { folder, rows: ROWS, ...changes };
    return childProcess(t, "../ingest/uploading-process.js", input);
  };
  const said = async (child: ReturnType<typeof start>): Promise<CountingUploads | "sent" | undefined> => {
    const line = await child.message();
    return line === undefined ? undefined : JSON.parse(line);
  };
  /** All rows of an upload, as the sums of its 100 resources. */
  const factsOf = (quantity: number) =>
    JSON.stringify(
      Array.from(
        { length: 100 },
        (_, r) => `01T00 cpu r-${r} web: ${(quantity * 1_000_000 * ROWS) / 100}`,
      ).sort(),
    );
  const factsIn = (counting: CountingUploads | "sent" | undefined) => {
    if (typeof counting !== "object") throw new Error("the process said something else");
    return JSON.stringify(counting.facts);
  };
  const finish = async (key: string, quantity: number, allowedBefore: readonly string[]) => {
    const child = start({ key, quantity, stays: false });
    const before = factsIn(await said(child));
    t.ok(allowedBefore.includes(before), "one complete upload counts");
    t.equal(await said(child), "sent");
    t.equal(
      factsIn(await said(child)),
      factsOf(quantity),
      "the upload counts after it is sent again under its key",
    );
    const cleaned = await said(child);
    t.equal(factsIn(cleaned), factsOf(quantity));
    t.equal(typeof cleaned === "object" && cleaned.partitions, 1, "the interrupted upload is dropped");
    await child.exited;
    return before;
  };
  await finish("first", 1, ["[]"]);
  let quantity = 1;
  const ends = { before: 0, after: 0 };
  for (const milliseconds of [0, 50, 200, undefined]) {
    const old = factsOf(quantity);
    quantity += 1;
    const key = `upload of ${quantity}`;
    const child = start({ key, quantity, stays: true });
    t.equal(factsIn(await said(child)), old);
    t.equal(await said(child), "sent");
    if (milliseconds === undefined) t.equal(factsIn(await said(child)), factsOf(quantity));
    else await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill("SIGKILL");
    const [, signal] = await child.exited;
    t.equal(
      signal,
      "SIGKILL",
      milliseconds === undefined ? "when it counts" : `${milliseconds} ms after its last byte`,
    );
    const found = await finish(key, quantity, [old, factsOf(quantity)]);
    ends[found === old ? "before" : "after"] += 1;
  }
  t.ok(ends.before > 0 && ends.after > 0, `${ends.before} were interrupted, ${ends.after} counted already`);
});
