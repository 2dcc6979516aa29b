import t from "tap";
import { refuseBrokenEnd } from "../../src/clickhouse/engine-bytes.js";

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

t.test("a complete stream is passed on unchanged, in any chunks", async (t) => {
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

t.test("an error after the written bytes is thrown, even if it arrives in pieces", async (t) => {
  await t.rejects(read(["a\n", broken], "TAG"), /Code: 159/);
  await t.rejects(read(["a\n", ...broken.split("")], "TAG"), /Code: 159/);
  await t.rejects(read(["x".repeat(1 << 17), broken], "TAG"), /Code: 159/);
});

t.test("if the connection is lost after the error, the error is thrown instead of the loss", async (t) => {
  const lost = new Error("aborted");
  await t.rejects(read(["a\n", broken], "TAG", lost), /Code: 159/);
  await t.rejects(read(["a\n", "b\n"], "TAG", lost), lost);
});

t.test("a marker with the tag of another response is data", async (t) => {
  t.equal(await read(["a", broken], "OTHER"), `a${broken}`);
  t.equal(await read(["a", broken]), `a${broken}`);
});
