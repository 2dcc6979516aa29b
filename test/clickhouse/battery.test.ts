/** Any ClickHouse has to pass these cases: the embedded one and, with CLICKHOUSE_URL, a server. */
import { Readable } from "node:stream";
import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import t, { type Test } from "tap";
import { parseStorage } from "../../src/config/settings/storage.js";
import { holds } from "../holds.js";
import { until } from "../until.js";
import {
  type ClientEndpoint,
  engineResponseText,
  newDatabase,
  quietClient,
  startEngine,
} from "./engine-under-test.js";

interface Context {
  readonly client: ClickHouseClient;
  readonly compressed: ClickHouseClient;
  /** Each case has a database of its own. */
  readonly db: string;
}

type Case = readonly [name: string, run: (t: Test, context: Context) => Promise<void>];

async function table(client: ClickHouseClient, db: string): Promise<string> {
  await client.command({ query: `CREATE TABLE ${db}.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a` });
  return `${db}.t`;
}

/** Reads all rows of a query that fails, and returns the error. */
async function errorOf(work: () => Promise<unknown>): Promise<ClickHouseError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ClickHouseError) return error;
    throw error;
  }
  throw new Error("this was to fail");
}

async function drain(client: ClickHouseClient, query: string): Promise<number> {
  const result = await client.query({ query, format: "JSONEachRow" });
  let rows = 0;
  for await (const chunk of result.stream()) rows += chunk.length;
  return rows;
}

const cases: readonly Case[] = [
  [
    "ping, plain and by a query",
    async (t, { client }) => {
      holds(t, await client.ping(), { success: true });
      holds(t, await client.ping({ select: true }), { success: true });
    },
  ],
  [
    "formats of results",
    async (t, { client }) => {
      const query = "SELECT number AS n, toString(number) AS s FROM numbers(2)";
      const settings = { output_format_json_quote_64bit_integers: 1 } as const;
      const read = async (
        format:
          | "JSONEachRow"
          | "JSONCompactEachRow"
          | "CSV"
          | "CSVWithNames"
          | "TabSeparatedWithNamesAndTypes",
      ) => await (await client.query({ query, format, clickhouse_settings: settings })).text();
      t.equal(await read("JSONEachRow"), '{"n":"0","s":"0"}\n{"n":"1","s":"1"}\n');
      t.equal(await read("JSONCompactEachRow"), '["0", "0"]\n["1", "1"]\n');
      t.equal(await read("CSV"), '0,"0"\n1,"1"\n');
      t.equal(await read("CSVWithNames"), '"n","s"\n0,"0"\n1,"1"\n');
      t.equal(await read("TabSeparatedWithNamesAndTypes"), "n\ts\nUInt64\tString\n0\t0\n1\t1\n");
      const json = await (
        await client.query({ query, format: "JSON", clickhouse_settings: settings })
      ).json();
      holds(t, json, {
        rows: 2,
        data: [{ n: "0" }, { n: "1" }],
        meta: [
          { name: "n", type: "UInt64" },
          { name: "s", type: "String" },
        ],
      });
    },
  ],
  [
    "headers are written once, in a long result too",
    async (t, { client }) => {
      const { stream } = await client.exec({
        query: "SELECT number AS n FROM numbers(1000000) FORMAT CSVWithNames",
      });
      let lines = 0;
      let headers = 0;
      for await (const chunk of stream) {
        for (const byte of chunk) if (byte === 10) lines += 1;
        headers += chunk.toString("latin1").split('"n"').length - 1;
      }
      t.same({ lines, headers }, { lines: 1_000_001, headers: 1 });
    },
  ],
  [
    "statements without FORMAT, with one, with settings, comments and odd names",
    async (t, { client }) => {
      const query = async (sql: string) => {
        const { stream } = await client.exec({ query: sql });
        return Buffer.concat(await stream.toArray()).toString("utf8");
      };
      t.equal(await query("SELECT 1"), "1\n");
      t.equal(await query("SELECT 1;"), "1\n");
      t.equal(await query("SELECT 1 -- FORMAT JSON"), "1\n");
      t.equal(await query("SELECT 1 FORMAT CSV /* x */ ;"), "1\n");
      t.equal(await query("SELECT ';' AS x FORMAT CSV SETTINGS max_threads = 1"), '";"\n');
      t.equal(await query("SELECT 2 SETTINGS max_threads = 1 FORMAT CSV"), "2\n");
      t.equal(await query("SELECT format FROM (SELECT 3 AS format) ORDER BY format DESC"), "3\n");
      t.equal(
        await query("SELECT a FROM (SELECT 1 AS a UNION ALL SELECT 2) ORDER BY a FORMAT JSONEachRow"),
        '{"a":1}\n{"a":2}\n',
      );
      t.equal(await query("WITH 4 AS x SELECT x"), "4\n");
      t.equal(await query("(SELECT 5)"), "5\n");
      t.equal(await query("SELECT $$it's$$, `a``b` FROM (SELECT 6 AS `a``b`)"), "it\\'s\t6\n");
      t.equal(await query("EXISTS TABLE system.one"), "1\n");
      t.match(await query("DESCRIBE TABLE system.one"), /^dummy\tUInt8/);
      t.match(await query("SHOW TABLES FROM system LIKE 'one'"), /^one\n/);
      t.match(await query("EXPLAIN SELECT 1"), /ReadFrom/);
      t.equal(await query("SELECT 1 FORMAT Null"), "");
    },
  ],
  [
    "parameters of all kinds, as they are",
    async (t, { client }) => {
      const values = {
        s: "it's a \"quote\" \\ back\\slash\nnewline\ttab ünïcode 🙂 {x:String} '; DROP TABLE t",
        n: null,
        u: "18446744073709551615",
      };
      const result = await client.query({
        query:
          "SELECT {s:String} AS s, {n:Nullable(String)} AS n, {u:UInt64} AS u, {a:Array(String)} AS a, {m:Map(String, UInt8)} AS m, {d:DateTime64(3, 'UTC')} AS d",
        format: "JSONEachRow",
        query_params: {
          ...values,
          a: ["x'y", "\\", "a\nb"],
          m: { k: 7 },
          d: new Date("2026-01-02T03:04:05.678Z"),
        },
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
      });
      t.same(await result.json(), [
        { ...values, a: ["x'y", "\\", "a\nb"], m: { k: 7 }, d: "2026-01-02 03:04:05.678" },
      ]);
      const one = await client.query({
        query: "SELECT * FROM {t:Identifier}.{u:Identifier}",
        query_params: { t: "system", u: "one" },
        format: "CSV",
      });
      t.equal(await one.text(), "0\n");
      const error = await errorOf(() => client.query({ query: "SELECT {missing:UInt8}" }));
      t.equal(error.type, "UNKNOWN_QUERY_PARAMETER");
    },
  ],
  [
    "long parameters, sent as multipart",
    async (t, { client }) => {
      const long = "x'ü\\\n".repeat(20_000);
      const result = await client.query({
        query: "SELECT length({s:String}) AS n",
        query_params: { s: long },
        use_multipart_params: true,
        format: "JSONEachRow",
        clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
      });
      t.same(await result.json(), [{ n: Buffer.byteLength(long) }]);
    },
  ],
  [
    "parameters of parallel queries do not mix",
    async (t, { client }) => {
      const requested = Array.from({ length: 200 }, (_, index) => index);
      const got = await Promise.all(
        requested.map(async (n) => {
          const result = await client.query({
            query: "SELECT {n:UInt32} AS n, sum(number) AS s FROM numbers({n:UInt32})",
            query_params: { n },
            format: "JSONEachRow",
            clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
          });
          return (await result.json<{ n: number; s: number }>())[0];
        }),
      );
      t.same(
        got,
        requested.map((n) => ({ n, s: (n * (n - 1)) / 2 })),
      );
    },
  ],
  [
    "settings hold for their query alone",
    async (t, { client }) => {
      const limited = () =>
        client.query({
          query: "SELECT * FROM numbers(1000)",
          clickhouse_settings: { max_rows_to_read: "10" },
        });
      t.equal((await errorOf(limited)).type, "TOO_MANY_ROWS");
      const [before, during, after] = [
        await engineResponseText(client, "SELECT getSetting('max_block_size')"),
        await client.query({
          query: "SELECT getSetting('max_block_size')",
          format: "CSV",
          clickhouse_settings: { max_block_size: "77" },
        }),
        await engineResponseText(client, "SELECT getSetting('max_block_size')"),
      ];
      t.equal(await during.text(), "77\n");
      t.equal(after, before);
      t.equal(await drain(client, "SELECT * FROM numbers(1000)"), 1000);
    },
  ],
  [
    "an unknown setting is an error",
    async (t, { client }) => {
      const error = await errorOf(() =>
        client.query({
          query: "SELECT 1",
          clickhouse_settings: { no_such_setting: 1 } as Record<string, number>,
        }),
      );
      holds(t, error, { code: "115", type: "UNKNOWN_SETTING" });
    },
  ],
  [
    "early errors carry code and type",
    async (t, { client, db }) => {
      const expected: readonly (readonly [sql: string, code: string, type: string])[] = [
        ["SELECT * FROM no_such_table", "60", "UNKNOWN_TABLE"],
        ["SELECT no_such_column FROM system.one", "47", "UNKNOWN_IDENTIFIER"],
        ["selekt 1", "62", "SYNTAX_ERROR"],
        [`SELECT * FROM no_such_database.t`, "81", "UNKNOWN_DATABASE"],
        ["SELECT toUInt8('x')", "6", "CANNOT_PARSE_TEXT"],
        ["SELECT 1 FORMAT NoSuchFormat", "73", "UNKNOWN_FORMAT"],
        [`DROP TABLE ${db}.nothing`, "60", "UNKNOWN_TABLE"],
      ];
      for (const [query, code, type] of expected)
        holds(t, await errorOf(() => client.exec({ query })), { code, type }, query);
    },
  ],
  [
    "more than one statement is refused, and none of it runs",
    async (t, { client, db }) => {
      const name = await table(client, db);
      holds(t, await errorOf(() => client.command({ query: `SELECT 1; DROP TABLE ${name}` })), {
        code: "62",
        type: "SYNTAX_ERROR",
      });
      t.equal(await engineResponseText(client, `EXISTS TABLE ${name}`), "1");
    },
  ],
  [
    "an error after the first byte reaches the client as one",
    async (t, { client }) => {
      const error = await errorOf(() =>
        drain(client, "SELECT number, throwIf(number = 3000000, 'late') FROM numbers(10000000)"),
      );
      holds(t, error, { code: "395", type: "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", message: /late/ });
    },
  ],
  [
    "no row of a query that failed shows up in another",
    async (t, { client }) => {
      for (let round = 0; round < 3; round += 1) {
        // It matters only that they fail, because a client that lags may not learn the cause.
        const failing = Array.from({ length: 6 }, (_, index) =>
          drain(
            client,
            `SELECT number, throwIf(number = ${300_000 + index * 100_000}) FROM numbers(10000000)`,
          ).catch((error: unknown) => error),
        );
        const working = Array.from({ length: 30 }, (_, index) =>
          engineResponseText(client, `SELECT ${index}, 'mine'`),
        );
        t.same(
          await Promise.all(working),
          working.map((_, index) => `${index}\tmine`),
        );
        for (const error of await Promise.all(failing)) t.type(error, Error);
        t.equal(await engineResponseText(client, "SELECT 'clean'"), "clean");
      }
    },
  ],
  [
    "INTO OUTFILE and FROM INFILE are refused, however written",
    async (t, { client, db }) => {
      const name = await table(client, db);
      for (const query of [
        "SELECT 1 INTO OUTFILE 'x'",
        "SELECT 1\ninto/* */outfile'x' FORMAT CSV",
        "SELECT 1 INTO -- c\n OUTFILE 'x' TRUNCATE",
        `INSERT INTO ${name} FROM INFILE '/etc/hostname' FORMAT CSV`,
      ]) {
        t.match((await errorOf(() => client.exec({ query }))).code, /^(358|48|78)$/, query);
      }
    },
  ],
  [
    "inserts: rows, streams of rows, streams of text",
    async (t, { client, db }) => {
      const name = await table(client, db);
      const first = await client.insert({
        table: name,
        values: [
          { a: 1, b: "it's\\\n" },
          { a: "2", b: "ü" },
        ],
        format: "JSONEachRow",
      });
      t.equal(first.summary?.written_rows, "2");
      await client.insert({
        table: name,
        values: Readable.from(Array.from({ length: 5000 }, (_, a) => ({ a: a + 10, b: "s" }))),
        format: "JSONEachRow",
      });
      await client.insert({
        table: name,
        values: Readable.from(["9001,x\n", "9002,", "y\n"], { objectMode: false }),
        format: "CSV",
      });
      await client.insert({ table: name, columns: ["b"], values: [{ b: "only b" }], format: "JSONEachRow" });
      await client.command({ query: `INSERT INTO ${name} VALUES (9003, 'FORMAT'), (9004, ';')` });
      await client.command({ query: `INSERT INTO ${name} (b, a) FORMAT CSV\n"q",9005\n` });
      t.equal(
        await engineResponseText(
          client,
          `SELECT count(), countIf(b = 'only b' AND a = 0), countIf(a > 9000) FROM ${name}`,
        ),
        "5008\t1\t5",
      );
      t.equal(await engineResponseText(client, `SELECT b FROM ${name} WHERE a = 1`), "it\\'s\\\\\\n");
      t.equal(
        await engineResponseText(client, `SELECT b FROM ${name} WHERE a IN (9003, 9004) ORDER BY a`),
        "FORMAT\n;",
      );
    },
  ],
  [
    "inserts of nothing",
    async (t, { client, db }) => {
      const name = await table(client, db);
      await client.insert({ table: name, values: [], format: "JSONEachRow" });
      await client.insert({ table: name, values: Readable.from([]), format: "JSONEachRow" });
      t.equal(await engineResponseText(client, `SELECT count() FROM ${name}`), "0");
    },
  ],
  [
    "INSERT … SELECT says how many rows it wrote",
    async (t, { client, db }) => {
      const name = await table(client, db);
      const { summary } = await client.command({
        query: `INSERT INTO ${name} SELECT number, 'x' FROM numbers(1234)`,
      });
      t.equal(summary?.written_rows, "1234");
    },
  ],
  [
    "binary formats in and out",
    async (t, { client, db }) => {
      const name = await table(client, db);
      await client.command({
        query: `INSERT INTO ${name} SELECT number, toString(number) FROM numbers(10000)`,
      });
      for (const format of ["Native", "RowBinary", "Parquet"]) {
        const { stream } = await client.exec({
          query: `SELECT a, b FROM ${name} WHERE a < 10000 LIMIT 10000 FORMAT ${format}`,
        });
        const bytes = Buffer.concat(await stream.toArray());
        const inserted = await client.exec({
          query: `INSERT INTO ${name} FORMAT ${format}`,
          values: Readable.from([bytes], { objectMode: false }),
        });
        await inserted.stream.toArray();
      }
      t.equal(await engineResponseText(client, `SELECT count() FROM ${name}`), "40000");
    },
  ],
  [
    "a bad row inserts nothing",
    async (t, { client, db }) => {
      const name = await table(client, db);
      const values = Readable.from([...Array.from({ length: 1000 }, (_, a) => `${a},x\n`), "bad,row\n"], {
        objectMode: false,
      });
      const error = await errorOf(() => client.insert({ table: name, values, format: "CSV" }));
      t.match(error.type ?? "", /CANNOT_PARSE/);
      t.equal(await engineResponseText(client, `SELECT count() FROM ${name}`), "0");
    },
  ],
  [
    "an upload that breaks inserts nothing",
    async (t, { client, db }) => {
      const name = await table(client, db);
      const values = Readable.from(
        (async function* () {
          for (let a = 0; a < 3000; a += 1) yield `${a},x\n`;
          throw new Error("source broke");
        })(),
        { objectMode: false },
      );
      await t.rejects(client.insert({ table: name, values, format: "CSV" }), /source broke/);
      t.equal(await engineResponseText(client, `SELECT count() FROM ${name}`), "0");
    },
  ],
  [
    "sessions keep temporary tables and settings, and one query at a time",
    async (t, { client, db }) => {
      const session = `s-${db}`;
      const inSession = { session_id: session };
      await client.command({ query: "CREATE TEMPORARY TABLE mine (a UInt8)", ...inSession });
      await client.insert({ table: "mine", values: [{ a: 5 }], format: "JSONEachRow", ...inSession });
      await client.command({ query: "SET max_block_size = 99", ...inSession });
      const read = async (query: string, settings = {}) =>
        (
          await (
            await client.query({ query, format: "CSV", clickhouse_settings: settings, ...inSession })
          ).text()
        ).trimEnd();
      t.equal(await read("SELECT a FROM mine"), "5");
      t.equal(
        await read("SELECT getSetting('max_block_size')", { max_block_size: "7" }),
        "7",
        "a query can have its own settings",
      );
      t.equal(await read("SELECT getSetting('max_block_size')"), "99", "settings end with their query");
      t.equal(
        (await errorOf(() => engineResponseText(client, "SELECT * FROM mine"))).type,
        "UNKNOWN_TABLE",
        "a table of a session is invisible outside",
      );
      const busy = read("SELECT sleep(1)");
      await until("the session to be locked", async () => {
        try {
          await client.query({ query: "SELECT 1", ...inSession });
          return false;
        } catch (error) {
          return error instanceof ClickHouseError && error.type === "SESSION_IS_LOCKED";
        }
      });
      t.equal(await busy, "0");
    },
  ],
  [
    "max_execution_time stops a query",
    async (t, { client }) => {
      const slow = {
        query: "SELECT count() FROM numbers(100000000000) WHERE NOT ignore(sipHash64(number))",
        clickhouse_settings: { max_execution_time: 1 },
      };
      holds(t, await errorOf(() => client.query(slow)), { code: "159", type: "TIMEOUT_EXCEEDED" });
    },
  ],
  [
    "a client that aborts stops its query, before output and during it",
    async (t, { client, db }) => {
      const marks = [`'${db}_counting'`, `'${db}_streaming'`] as const;
      const queries = [
        `SELECT ${marks[0]}, count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`,
        `SELECT ${marks[1]}, number FROM numbers(1000000000000)`,
      ];
      for (const [index, query] of queries.entries()) {
        const running = async () =>
          Number(
            await engineResponseText(
              client,
              `SELECT count() FROM system.processes WHERE query LIKE '%${db}_${index === 0 ? "counting" : "streaming"}%' AND query NOT LIKE '%system.processes%'`,
            ),
          );
        const abort = new AbortController();
        const work = client.query({ query, format: "JSONEachRow", abort_signal: abort.signal });
        const result = index === 1 ? await work : undefined;
        await until("the query to run", async () => (await running()) === 1);
        abort.abort();
        result?.close();
        if (index === 0) await t.rejects(work, /aborted/);
        await until("the query to be gone", async () => (await running()) === 0);
        t.pass(query);
      }
    },
  ],
  [
    "a client that aborts stops its query with parameters, which the engine rewrites, as well",
    async (t, { client, db }) => {
      const name = await table(client, db);
      const endless = `SELECT number, '${db}_asking' FROM numbers(1000000000000) WHERE number % {n:UInt64} = 7 AND NOT ignore(sipHash64(number))`;
      const running = async () =>
        Number(
          await engineResponseText(
            client,
            `SELECT count() FROM system.processes WHERE query LIKE '%${db}_asking%' AND query NOT LIKE '%system.processes%'`,
          ),
        );
      for (const query of [`SELECT count() FROM (${endless})`, `INSERT INTO ${name} ${endless}`]) {
        const abort = new AbortController();
        const work = client.command({
          query,
          query_params: { n: 1_000_000_007 },
          clickhouse_settings: { log_comment: "of the client's own" },
          abort_signal: abort.signal,
        });
        await until("the query to run", async () => (await running()) === 1);
        abort.abort();
        await t.rejects(work, /aborted/);
        await until("the query to be gone", async () => (await running()) === 0);
        t.pass(query);
      }
    },
  ],
  [
    "KILL QUERY by the client's own id",
    async (t, { client, db }) => {
      const query_id = `${db}/*'*/ü`;
      const slow = client.query({
        query:
          "SELECT count() FROM numbers(1000000000000) WHERE number > {n:UInt8} AND NOT ignore(sipHash64(number))",
        query_params: { n: 7 },
        query_id,
      });
      const failed = errorOf(() => slow);
      await until("the query to be killed", async () => {
        const result = await client.query({
          query: "KILL QUERY WHERE query_id = {id:String} SYNC",
          query_params: { id: query_id },
          format: "JSONEachRow",
        });
        return (await result.text()) !== "";
      });
      t.equal((await failed).type, "QUERY_WAS_CANCELLED");
    },
  ],
  [
    "gzip both ways",
    async (t, { compressed, client, db }) => {
      const name = await table(client, db);
      const values = Readable.from(Array.from({ length: 50_000 }, (_, a) => ({ a, b: "compress me" })));
      await compressed.insert({ table: name, values, format: "JSONEachRow" });
      const result = await compressed.query({
        query: `SELECT * FROM ${name} ORDER BY a`,
        format: "JSONEachRow",
      });
      t.equal(result.response_headers["content-encoding"], "gzip");
      let rows = 0;
      for await (const chunk of result.stream()) rows += chunk.length;
      t.equal(rows, 50_000);
      t.equal(
        (
          await errorOf(() =>
            drain(compressed, "SELECT number, throwIf(number = 3000000) FROM numbers(10000000)"),
          )
        ).code,
        "395",
      );
    },
  ],
];

function onTarget(name: string, open: (t: Test) => Promise<ClientEndpoint>): void {
  t.test(name, async (t) => {
    const endpoint = await open(t);
    const client = quietClient(t, endpoint);
    const compressed = quietClient(t, endpoint, "default", { request: true, response: true });
    for (const [title, run] of cases) {
      await t.test(title, async (t) => run(t, { client, compressed, db: await newDatabase(t, client) }));
    }
  });
}

onTarget("embedded", async (t) => (await startEngine(t)).endpoint);

const server = parseStorage(`${process.env.CLICKHOUSE_URL ?? ""}/test`);
if ("storage" in server && server.storage.kind === "server") {
  const { urls, username, password } = server.storage;
  onTarget("server", async () => ({ url: urls[0] ?? "", username, password }));
}
