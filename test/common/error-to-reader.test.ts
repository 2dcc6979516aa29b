/** Errors of streams without a listener must not end the process, as Node.js would. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { readerError } from "../../src/common/reader-error.js";
import { limitIdle } from "../../src/export/reader-pace.js";
import { counted } from "../../src/ingest/ecosystems/focus/sources/files/counted.js";
import { measuredBytes } from "../../src/ingest/usage-uploads/load.js";

const uncaught: unknown[] = [];
process.on("uncaughtException", (error) => void uncaught.push(error));

t.test("a stream that fails before it is read passes the error to its reader", async (t) => {
  const stream = readerError(Readable.from(["never read"]));
  stream.destroy(new Error("the disk is broken"));
  await setImmediate();
  await t.rejects(text(stream), { message: "the disk is broken" });
  t.strictSame(uncaught, []);
});

t.test("a delivered file whose run was stopped before it was read ends nothing else", async (t) => {
  const path = join(mkdtempSync(join(tmpdir(), "chargehouse-test-")), "bill.csv");
  writeFileSync(path, "a,b\n");
  const file = { name: "bill.csv", size: 4, version: "1", modified: 0 };
  const handle = await open(path);
  const stop = new AbortController();
  const bytes = counted(handle.createReadStream({ autoClose: false }), file, stop.signal);
  stop.abort(new Error("the run was stopped"));
  await setImmediate();
  await t.rejects(text(bytes), { name: "AbortError" });
  t.strictSame(uncaught, []);
});

t.test("a failed export that was never read ends nothing else", async (t) => {
  const stream = limitIdle(Readable.from(["a", "b"]), 1);
  await new Promise((resolve) => stream.once("close", resolve));
  await t.rejects(text(stream), { name: "AbortError" });
  t.strictSame(uncaught, []);
});

t.test("an upload that is cut off before it is read ends nothing else", async (t) => {
  const { bytes } = measuredBytes(Readable.from(["a"]), 10);
  bytes.destroy(new Error("the client has gone"));
  await setImmediate();
  await t.rejects(text(bytes), { message: "the client has gone" });
  t.strictSame(uncaught, []);
});
