/**
 * Sends the requests of the drivers of BI tools as their sources write them, and expects the bytes that they expect.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { compress, decompress } from "../../src/embedded-clickhouse/server/compressed-blocks.js";
import { nativeBlocks } from "../../src/embedded-clickhouse/server/native-blocks.js";
import { quietClient, sendRequest, sqlListener, startEngine } from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";

const LIMIT = 1 << 28;
const BLOCK_INFO = "010002ffffffff00";
/** One value of each type that a column can have. */
const TYPES =
  "1::UInt8 AS a, 'x' AS s, [1, 2]::Array(UInt16) AS r, map('k', [1]) AS m, toLowCardinality('lc') AS l, NULL::Nullable(Int64) AS n, " +
  "[toLowCardinality(toNullable('q'))] AS ln, (1, 'b')::Tuple(`a b` UInt8, c String) AS t, 1.5::Decimal(18, 4) AS d, 2::Decimal(38, 9) AS e, " +
  "now() AS dt, now64(3, 'Europe/Berlin') AS d6, toDate('2026-01-01') AS da, generateUUIDv4() AS u, toFixedString('ab', 2) AS f, " +
  "CAST('x', 'Enum8(\\'x\\' = 1, \\'y, (\\' = 2)') AS en, true AS b, toIPv4('127.0.0.1') AS ip, INTERVAL 1 DAY AS i";

t.test("the embedded engine serves the drivers of BI tools", async (t) => {
  const port = await freePort();
  const user = { user: "bi", password: "s3cret", databases: ["facts"] };
  const under = await startEngine(t, { sqlPort: sqlListener(port, [user]) });
  const service = quietClient(t, under.endpoint);
  await service.command({ query: "CREATE DATABASE facts" });
  const table =
    "CREATE TABLE facts.t (a UInt64, s String) ENGINE = MergeTree ORDER BY a SETTINGS min_bytes_for_wide_part = 0";
  await service.command({ query: table });
  await service.command({
    query: "INSERT INTO facts.t SELECT number, repeat(toString(number), 3) FROM numbers(200000)",
  });
  const endpoint = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const headers = { "X-ClickHouse-User": "bi", "X-ClickHouse-Key": "s3cret" };
  const as = { anonymous: true, headers };

  await t.test(
    "blocks that ClickHouse compressed are decompressed and their checksums verified",
    async (t) => {
      const files = (await readdir(under.dataDir, { recursive: true })).filter((name) =>
        name.endsWith("/s.bin"),
      );
      t.ok(files.length > 0);
      for (const file of files)
        t.ok(decompress(await readFile(join(under.dataDir, file)), LIMIT).includes("199999199999199999"));
      for (const length of [0, 1, 14, 15, 16, 270, 65_535, 65_536, 70_000]) {
        const data = Buffer.alloc(length, "abc");
        t.ok(decompress(compress(data), LIMIT).equals(data), String(length));
      }
      const wrong = compress(Buffer.from("SELECT 1"));
      wrong.writeUInt8(wrong.readUInt8(30) ^ 1, 30);
      t.throws(() => decompress(wrong, LIMIT), /a checksum is wrong/);
      t.throws(() => decompress(compress(Buffer.alloc(100)), 99), /longer than 99 bytes/);
      t.throws(() => decompress(compress(Buffer.alloc(100)).subarray(0, 60), LIMIT), /amid a block/);
    },
  );

  await t.test(
    "clickhouse-jdbc gets compressed responses and errors, and sends compressed requests",
    async (t) => {
      const jdbc = {
        ...headers,
        "X-ClickHouse-Format": "RowBinaryWithNamesAndTypes",
        "X-ClickHouse-Database": "default",
      };
      const requested = async (path: string, body: string | Buffer) =>
        await sendRequest(endpoint, path, {
          anonymous: true,
          headers: { ...jdbc, "Content-Type": "text/plain" },
          body,
        });
      const plain = await requested("/", "SELECT a, s FROM t ORDER BY a");
      const packed = await requested("/?compress=1", "SELECT a, s FROM t ORDER BY a");
      t.ok(decompress(packed.body, LIMIT).equals(plain.body));
      const failed = await requested("/?compress=1", "SELECT nope");
      t.equal(failed.status, 404);
      t.match(decompress(failed.body, LIMIT).toString(), /^Code: 47\. /);
      const sent = await requested("/?compress=1&decompress=1", compress(Buffer.from("SELECT 1 AS x")));
      t.same(decompress(sent.body, LIMIT), Buffer.from([1, 1, 120, 5, ...Buffer.from("UInt8"), 1]));
    },
  );

  await t.test("clickhouse-go, as Grafana uses it, gets Native blocks at its revision", async (t) => {
    const path = "/?client_protocol_version=54483&database=default&default_format=Native";
    const ping = await sendRequest(endpoint, path, { ...as, body: "SELECT 1" });
    t.equal(ping.body.toString("hex"), `${BLOCK_INFO}0101013105${Buffer.from("UInt8").toString("hex")}0001`);
    const hello = await sendRequest(endpoint, path, {
      ...as,
      body: "SELECT displayName(), version(), revision(), timezone()",
    });
    t.equal(hello.status, 200);
    t.equal(hello.body.subarray(0, 10).toString("hex"), `${BLOCK_INFO}0401`);
    const types = await sendRequest(endpoint, path, { ...as, body: `SELECT ${TYPES} FROM numbers(3)` });
    t.equal(types.status, 200, types.body.toString().slice(0, 200));
    const rows = await sendRequest(endpoint, path, { ...as, body: "SELECT a, s FROM t" });
    t.equal(rows.headers["content-type"], "application/octet-stream");
    const compressed = await sendRequest(endpoint, `${path}&compress=1`, {
      ...as,
      body: "SELECT a, s FROM t ORDER BY a LIMIT 5",
    });
    t.ok(decompress(compressed.body, LIMIT).subarray(0, 8).toString("hex") === BLOCK_INFO);
    const unknown = await sendRequest(endpoint, path, { ...as, body: "SELECT '{}'::JSON AS j" });
    t.match(unknown.body.toString(), /^Code: 48\. .*Column j of type JSON/);
  });

  await t.test("Native blocks are the same for any chunking of the stream", async (t) => {
    const { body } = await sendRequest(endpoint, "/?default_format=Native", {
      ...as,
      body: `SELECT ${TYPES} FROM numbers(50)`,
    });
    const whole = nativeBlocks(54_483).take(body);
    const blocks = nativeBlocks(54_483);
    const pieces: Buffer[] = [];
    for (let at = 0; at < body.length; at += 7) pieces.push(blocks.take(body.subarray(at, at + 7)));
    pieces.push(blocks.end());
    t.ok(Buffer.concat(pieces).equals(whole));
    const before = nativeBlocks(54_453).take(body);
    t.ok(before.equals(Buffer.concat([Buffer.from(BLOCK_INFO, "hex"), body])));
  });

  await t.test("clickhouse-connect can start up and send its settings", async (t) => {
    const settings = await sendRequest(endpoint, "/", {
      ...as,
      body: "SELECT name, value, readonly as readonly FROM system.settings LIMIT 10000 FORMAT TSV",
    });
    const writable = settings.body
      .toString()
      .split("\n")
      .filter((line) => line.endsWith("\t0"))
      .map((line) => line.split("\t")[0]);
    for (const name of [
      "max_execution_time",
      "date_time_input_format",
      "enable_http_compression",
      "send_progress_in_http_headers",
    ])
      t.ok(writable.includes(name), name);
    for (const name of ["readonly", "output_format_schema", "format_schema", "max_rows_to_group_by"])
      t.notOk(writable.includes(name), name);
    const probe = await sendRequest(endpoint, "/?client_protocol_version=54405", {
      ...as,
      body: "SELECT 1 AS check\n FORMAT Native",
    });
    t.equal(probe.body.subarray(8, 16).toString("latin1"), "\x01\x01\x05check");
    const timed = await sendRequest(endpoint, "/?max_execution_time=5&session_id=x&wait_end_of_query=1", {
      ...as,
      body: "SELECT 1",
    });
    t.equal(timed.body.toString(), "1\n");
  });
});
