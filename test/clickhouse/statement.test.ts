/** Reads decode the engine's values, on the real engine. */
import t from "tap";
import { readRows, readTuples, streamRows } from "../../src/clickhouse/statement.js";
import { openTestStores } from "../stores.js";

t.test("a read returns exact values", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  const select = (query: string) => ({ query: `SELECT ${query}`, params: {} });

  await t.test("counts are read as numbers, flags as booleans, and decimals with all digits", async (t) => {
    const values = [
      ["count()", 3],
      ["sum(toInt64(-number))", -3],
      ["toUInt64(9007199254740991)", 9007199254740991],
      ["toInt64(-9007199254740991)", -9007199254740991],
      ["any(toLowCardinality(toNullable(toUInt64(7))))", 7],
      ["CAST(NULL AS Nullable(Int64))", null],
      ["[toUInt64(1), 2]", [1, 2]],
      ["[[toNullable(toInt64(1)), NULL], []]", [[1, null], []]],
      ["toUInt8(1)", 1],
      ["toFloat64(1.5)", 1.5],
      ["max(number = 2)::Bool", true],
      ["toDecimal128('12345678901234567890.123456789012', 12)", "12345678901234567890.123456789012"],
      ["toInt128('170141183460469231731687303715884105727')", "170141183460469231731687303715884105727"],
      ["toString(count())", "3"],
      ["toDateTime('2026-01-02 03:04:05', 'UTC')", "2026-01-02T03:04:05Z"],
      ["toDateTime64('2026-01-02 03:04:05', 3, 'UTC')", "2026-01-02T03:04:05.000Z"],
      ["tuple('a', toUInt8(1))", ["a", 1]],
      [`'a "quoted" Int64'`, 'a "quoted" Int64'],
      ["'two\\nlines\\r\\n, ä, \u2028, 🙂'", "two\nlines\r\n, ä, \u2028, 🙂"],
      ["''", ""],
    ] as const;
    const columns = values.map(([column], index) => `${column} AS c${index}`);
    const statement = select(`${columns.join(", ")} FROM numbers(3)`);
    t.strictSame(await readTuples(client, statement), [values.map(([, value]) => value)]);
    t.strictSame(await readRows(client, statement), [
      Object.fromEntries(values.map(([, value], index) => [`c${index}`, value])),
    ]);
  });

  await t.test(
    "a count that is not an exact number is an error, and so is an unsupported type",
    async (t) => {
      for (const value of ["toUInt64(9007199254740992)", "toInt64(-9007199254740992)", "[cityHash64('a')]"])
        await t.rejects(readRows(client, select(value)), { name: "RangeError" }, value);
      await t.rejects(readRows(client, select("tuple(toUInt64(1))")), {
        message: "columns of type Tuple(UInt64) are not read",
      });
    },
  );

  await t.test("a read returns results without rows, and results in many pieces", async (t) => {
    t.strictSame(await readRows(client, select("number FROM numbers(0)")), []);
    const many = select("number, toString(number) AS text FROM numbers(100000)");
    let next = 0;
    let pieces = 0;
    for await (const rows of streamRows<{ number: number; text: string }>(client, many)) {
      pieces += 1;
      for (const row of rows) {
        if (row.number !== next || row.text !== String(next)) t.fail(`row ${next} is ${JSON.stringify(row)}`);
        next += 1;
      }
    }
    t.equal(next, 100_000);
    t.ok(pieces > 1);
    t.equal((await readRows(client, many)).length, 100_000);
  });

  await t.test("an error after few or many rows is the engine's own error", async (t) => {
    for (const rows of [3, 100_000]) {
      const failing = select(
        `number, throwIf(number = ${rows - 1}, 'the last one') FROM numbers(${rows}) SETTINGS max_block_size = 1`,
      );
      await t.rejects(readRows(client, failing), { code: "395", message: /the last one/ }, `${rows} rows`);
    }
  });
});
