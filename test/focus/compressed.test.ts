/** Compressed files: zstd, and a decompression bomb. */
import { gzipSync } from "node:zlib";
import t from "tap";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { temporaryFolder, testLogger } from "../stores.js";
import { csvOf, validFile, writeCsv } from "./files.js";

const folder = temporaryFolder(t);
const engine = await openScratchEngine(testLogger);
t.teardown(() => engine.close());
const valid = writeCsv(folder, csvOf(validFile("1.4")));

t.test("a file that exceeds the engine's memory is rejected, and the next file can be checked", async (t) => {
  const head = gzipSync("BilledCost,ChargePeriodStart,ChargeClass\n1,2,");
  const piece = gzipSync(Buffer.alloc(2 ** 24, "a"));
  const bomb = Buffer.concat([head, ...Array.from({ length: 128 }, () => piece)]);
  t.ok(bomb.length < 2 ** 22, "2 GiB in less than 4 MiB");
  await t.rejects(checkFile(engine, writeCsv(folder, bomb, "csv.gz")), {
    name: "UnreadableFileError",
    message: "needs more than the engine's memory limit of 1 GiB",
  });
  t.strictSame((await checkFile(engine, valid)).findings, []);
});

t.test("a zstd file has the same report as plain CSV", async (t) => {
  const packed = `${valid}.zst`;
  await engine.client.command({
    query: `INSERT INTO FUNCTION file('${packed}', 'TSVRaw', 'line String', 'zstd') SELECT * FROM file('${valid}', 'LineAsString', 'line String') SETTINGS max_threads = 1`,
  });
  const plain = await checkFile(engine, valid);
  t.strictSame(await checkFile(engine, packed), { ...plain, file: packed, compression: "zstd" });
});
