import t from "tap";
import { refuseBrokenEnd } from "../../../src/store/clickhouse/stream-end.js";

async function read(chunks: readonly string[], tag?: string, lost?: Error): Promise<string> {
  let text = "";
  const source = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
    if (lost !== undefined) throw lost;
  })();
  for await (const chunk of refuseBrokenEnd(source, tag)) text += chunk.toString();
  return text;
}

const broken = "\r\n__exception__\r\nTAG\nCode: 159. Timeout\n19 TAG\r\n__exception__\r\n";

t.test("a whole stream comes as it is, in any chunks", async (t) => {
  const line = `${"x".repeat(999)}\n`;
  for (const chunks of [
    [],
    [""],
    ["a\n"],
    Array.from({ length: 100 }, () => line),
    [line.repeat(100), "b"],
  ]) {
    t.equal(await read(chunks, "TAG"), chunks.join(""));
  }
});

t.test("an error behind what was written is thrown, also when it is cut into pieces", async (t) => {
  await t.rejects(read(["a\n", broken], "TAG"), /Code: 159/);
  await t.rejects(read(["a\n", ...broken.split("")], "TAG"), /Code: 159/);
  await t.rejects(read(["x".repeat(1 << 17), broken], "TAG"), /Code: 159/);
});

t.test("a connection that is lost behind the error: the error is thrown, not the loss", async (t) => {
  const lost = new Error("aborted");
  await t.rejects(read(["a\n", broken], "TAG", lost), /Code: 159/);
  await t.rejects(read(["a\n", "b\n"], "TAG", lost), lost);
});

t.test("a marker that is not of this answer is data", async (t) => {
  t.equal(await read(["a", broken], "OTHER"), `a${broken}`);
  t.equal(await read(["a", broken]), `a${broken}`);
});
