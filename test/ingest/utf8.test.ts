/** Text that has to be UTF-8, however its chunks are cut. */
import t from "tap";
import { utf8 } from "../../src/ingest/csv/utf8.js";

async function passed(bytes: Buffer, size: number): Promise<string> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: Buffer[] = [];
  try {
    for await (const part of utf8(chunks())) parts.push(part);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : "no error";
  }
  return Buffer.concat(parts).toString("hex");
}

t.test("characters of one to four bytes pass in chunks of any size, and others are refused", async (t) => {
  const refusal = "UnreadableFileError: is not text in UTF-8; CSV and Parquet can be read";
  const good = Buffer.from("a\u00e9\u20ac\u{1f600}b\u{10ffff}\u00ff");
  const bad = ["e9", "c3", "61c3", "e282", "f09f98", "80", "c080", "eda080", "f4908080", "e28261", "ff"];
  for (const size of [1, 2, 3, 4, 5, 100]) {
    t.equal(await passed(good, size), good.toString("hex"), `chunks of ${size}`);
    for (const hex of bad)
      for (const tail of ["", "6162"])
        t.equal(
          await passed(Buffer.from(`61c3a9${hex}${tail}`, "hex"), size),
          refusal,
          `${hex}${tail} in ${size}`,
        );
  }
});
