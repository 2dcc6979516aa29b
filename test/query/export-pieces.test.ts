/** Files joined from the engine's output. They are the same for every chunking, and incomplete output is rejected. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { DuckDBInstance } from "@duckdb/node-api";
import t from "tap";
import { arrowPieces } from "../../src/export/arrow-pieces.js";
import type { Pieces } from "../../src/export/format.js";
import { parquetPieces } from "../../src/export/parquet-pieces.js";
import { readThrift, type ThriftStruct, writeThrift } from "../../src/export/thrift-compact.js";
import { startService } from "../http/service.js";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function joined(pieces: Pieces, sources: readonly Buffer[], size: number): Promise<Buffer> {
  const out = [pieces.begin()];
  for (const source of sources)
    for await (const chunk of pieces.piece(inChunks(source, size))) out.push(chunk);
  return Buffer.concat([...out, pieces.end()]);
}

t.test("pieces of an export are joined into one file", async (t) => {
  const { stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-pieces-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const written = async (format: string, from: number, to: number) => {
    const { stream } = await client.exec({
      query: `SELECT toDecimal128(number, 12) / 8 AS amount, concat('é', toString(number % 7)) AS name, range(number % 3) AS list
        FROM numbers({from:UInt64}, {to:UInt64} - {from:UInt64}) FORMAT ${format}`,
      query_params: { from, to },
      clickhouse_settings: {
        output_format_parquet_row_group_size: "100",
        output_format_arrow_low_cardinality_as_dictionary: 0,
        max_block_size: "100",
      },
    });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  };
  const spans = [
    [0, 250],
    [250, 250],
    [250, 251],
    [251, 3000],
  ] as const;

  await t.test("Parquet pieces become one Parquet file", async (t) => {
    const sources = await Promise.all(spans.map(([from, to]) => written("Parquet", from, to)));
    const whole = await joined(parquetPieces(), sources, 1 << 20);
    for (const size of [1, 3, 4, 5, 1000]) {
      t.ok((await joined(parquetPieces(), sources, size)).equals(whole), `chunks of ${size} bytes`);
    }
    const file = join(folder, "whole.parquet");
    writeFileSync(file, whole);
    const duck = await DuckDBInstance.create(":memory:");
    const connection = await duck.connect();
    const reader = await connection.runAndReadAll(
      `SELECT count(*) AS n, sum(amount)::VARCHAR AS total, sum(len(list)) AS lists, count(DISTINCT name) AS names,
        bool_and(amount * 8 = file_row_number) AS ordered FROM read_parquet('${file}', file_row_number = true)`,
    );
    t.same(reader.getRowObjectsJson(), [
      { n: "3000", total: "562312.500000000000", lists: "3000", names: "7", ordered: true },
    ]);
    // The footer must locate statistics, page indexes and bloom filters: this query uses them to read one row group.
    const one = await connection.runAndReadAll(`SELECT name FROM '${file}' WHERE amount = 2999 / 8.0`);
    t.same(one.getRowObjectsJson(), [{ name: "é3" }]);
    connection.closeSync();
    duck.closeSync();
    t.ok(
      (await joined(parquetPieces(), sources.slice(0, 1), 64))
        .subarray(0, 1000)
        .equals(sources[0]?.subarray(0, 1000) ?? Buffer.alloc(0)),
      "a single piece is unchanged",
    );
    for (const broken of [
      Buffer.alloc(0),
      Buffer.from("PAR1PAR1"),
      sources[0]?.subarray(0, -1),
      sources[0]?.subarray(0, 500),
    ]) {
      await t.rejects(joined(parquetPieces(), [broken ?? Buffer.alloc(0)], 64), /Parquet/, "not whole");
    }
  });

  await t.test("Arrow pieces become one Arrow stream", async (t) => {
    const sources = await Promise.all(spans.map(([from, to]) => written("ArrowStream", from, to)));
    const whole = await joined(arrowPieces(), sources, 1 << 20);
    for (const size of [1, 7, 8, 9, 1000]) {
      t.ok((await joined(arrowPieces(), sources, size)).equals(whole), `chunks of ${size} bytes`);
    }
    await client.command({
      query:
        "CREATE TABLE read_back (amount Decimal(38, 12), name String, list Array(UInt8)) ENGINE = Memory",
    });
    await client.exec({
      query: "INSERT INTO read_back FORMAT ArrowStream",
      values: Readable.from([whole], { objectMode: false }),
    });
    const result = await client.query({
      query: "SELECT count() AS n, toString(sum(amount)) AS total, uniqExact(name) AS names FROM read_back",
      format: "JSONEachRow",
    });
    t.same(await result.json(), [{ n: "3000", total: "562312.5", names: "7" }]);
    for (const broken of [
      Buffer.alloc(0),
      sources[0]?.subarray(0, -1),
      sources[0]?.subarray(0, -8),
      sources[0]?.subarray(0, 300),
      Buffer.from("no stream"),
    ]) {
      await t.rejects(joined(arrowPieces(), [broken ?? Buffer.alloc(0)], 64), /Arrow/, "not whole");
    }
  });

  await t.test("a Thrift structure is written back byte for byte", async (t) => {
    const struct: ThriftStruct = {
      fields: [
        { id: 1, type: 6, value: -(2n ** 62n) },
        { id: 2, type: 1, value: true },
        { id: 3, type: 2, value: false },
        { id: 4, type: 7, value: Buffer.alloc(8, 1) },
        { id: 40, type: 8, value: Buffer.from("é") },
        {
          id: 41,
          type: 9,
          value: { type: 5, items: Array.from({ length: 20 }, (_, index) => BigInt(index - 10)) },
        },
        { id: 42, type: 9, value: { type: 1, items: [Buffer.from([1]), Buffer.from([2])] } },
        { id: 39, type: 12, value: { fields: [{ id: 1, type: 3, value: Buffer.from([255]) }] } },
      ],
    };
    const bytes = writeThrift(struct);
    t.same(readThrift(bytes), struct);
    t.ok(writeThrift(readThrift(bytes)).equals(bytes));
    t.throws(() => readThrift(bytes.subarray(0, -2)), /ends early/);
    t.throws(() => readThrift(Buffer.concat([bytes, bytes])), /behind the end/);
    t.throws(() => readThrift(Buffer.from([0x1b, 0])), /no footer has/);
  });
});
