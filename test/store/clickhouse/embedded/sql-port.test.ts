/** The read-only port for BI tools: what it lets through, and the ways out of it that were tried. */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import t from "tap";
import { ask, type EngineUnderTest, quietClient, startEngine } from "../engine-under-test.js";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

const allowed: readonly string[] = [
  "SELECT count() FROM facts.t",
  "select a, sum(b) from facts.t group by a order by a limit 10 format CSV",
  "WITH 1 AS x SELECT x /* comment */ -- another",
  "(SELECT 1) UNION ALL (SELECT 2)",
  "SHOW TABLES FROM facts",
  "SHOW CREATE TABLE facts.t",
  "DESCRIBE TABLE facts.t",
  "EXPLAIN SELECT a FROM facts.t",
  "EXISTS TABLE facts.t",
  "SELECT name FROM system.tables WHERE database = 'facts'",
  "SELECT name, type, comment FROM system.columns WHERE table = 't'",
  "SELECT name, value FROM system.settings LIMIT 1",
  "SELECT name FROM system.functions LIMIT 1",
  "SELECT errors, t.disks FROM (SELECT 1 AS errors, 2 AS disks) AS t WHERE errors IN range(3)",
  "SELECT x FROM facts.t ARRAY JOIN range(2) AS x LIMIT 1",
  "SELECT sum(a), max(b), arrayMap(x -> (x + 1), [1]) FROM facts.t WHERE a IN (SELECT number FROM numbers(3))",
  "SELECT * FROM information_schema.tables LIMIT 1",
  "SELECT number FROM numbers(3)",
  "SELECT a.file FROM (SELECT 1 AS `x.file`, tuple(1)::Tuple(file UInt8) AS a) AS t",
  "SELECT 'INTO OUTFILE', 'file(''/etc/hostname'')'",
];

const refused: readonly string[] = [
  "INSERT INTO facts.t VALUES (1, 1)",
  "INSERT INTO facts.t SELECT 1, 1",
  "CREATE TABLE facts.u (a UInt8) ENGINE = Memory",
  "CREATE TEMPORARY TABLE u (a UInt8)",
  "DROP TABLE facts.t",
  "ALTER TABLE facts.t DELETE WHERE 1",
  "TRUNCATE TABLE facts.t",
  "OPTIMIZE TABLE facts.t",
  "SYSTEM JEMALLOC PURGE",
  "SYSTEM SHUTDOWN",
  "KILL QUERY WHERE 1",
  "SET max_threads = 1",
  "SET readonly = 0",
  "SET ROLE ALL",
  "USE facts",
  "BACKUP TABLE facts.t TO File('x')",
  "UNDROP TABLE facts.t",
  "EXECUTE AS default SELECT 1",
  "GRANT SELECT ON *.* TO default",
  "SHOW PROCESSLIST",
  "SELECT 1 SETTINGS readonly = 0",
  "SELECT * FROM system.processes",
  "SELECT * FROM system.`processes`",
  'SELECT * FROM `system`."processes"',
  "SELECT * FROM system.server_settings",
  "SELECT * FROM merge('system', 'processes')",
  "SELECT * FROM merge(system, 'proc.*')",
  "SELECT 1; SELECT 2",
  "SELECT 1 INTO OUTFILE '{out}'",
  "SELECT 1 into/**/outfile'{out}'",
  "SELECT 1 INTO -- x\nOUTFILE '{out}' TRUNCATE FORMAT CSV",
  "SELECT 1 /* ' */ INTO OUTFILE '{out}' /* ' */",
  "(SELECT 1) INTO OUTFILE '{out}' APPEND",
  "EXPLAIN SELECT 1 INTO OUTFILE '{out}'",
  "SHOW TABLES INTO OUTFILE '{out}'",
  "SELECT $x$ '$x$ INTO OUTFILE '{out}'",
  "SELECT 1 // ' \nINTO OUTFILE '{out}'",
  "SELECT 1 \u00a0INTO\u00a0OUTFILE '{out}'",
  "SELECT file('/etc/hostname')",
  "SELECT `file`('/etc/hostname')",
  "SELECT \"file\" ('/etc/hostname')",
  "SELECT fi/**/le('/etc/hostname')",
  "SELECT arrayMap(file, ['/etc/hostname'])",
  "SELECT * APPLY(file) FROM (SELECT '/etc/hostname' AS a)",
  "SELECT * APPLY file FROM (SELECT '/etc/hostname' AS a)",
  "WITH file AS f SELECT f('/etc/hostname')",
  "SELECT * FROM file('/etc/hostname', 'LineAsString')",
  "DESCRIBE file('/etc/hostname', 'LineAsString')",
  "DESCRIBE TABLE file('/etc/hostname', 'LineAsString')",
  "EXPLAIN SELECT * FROM file('/etc/hostname', 'LineAsString')",
  "SELECT * FROM '/etc/hostname'",
  "SELECT * FROM `/etc/hostname`",
  "SELECT * FROM default.`/etc/hostname`",
  "SELECT * FROM numbers(1), file('/etc/hostname', 'LineAsString')",
  "SELECT * FROM numbers(1) JOIN url('http://127.0.0.1:1/', 'CSV', 'a String') ON 1",
  "SELECT 1 IN (SELECT 1 FROM url('http://127.0.0.1:1/', 'CSV', 'a String'))",
  "SELECT 1 WHERE 1 IN url('http://127.0.0.1:1/', 'CSV', 'a String')",
  "SELECT * FROM s3('http://127.0.0.1:1/bucket/x.csv')",
  "SELECT * FROM iceberg('http://127.0.0.1:1/bucket/')",
  "SELECT * FROM remote('127.0.0.1', facts.t)",
  "SELECT * FROM cluster('default', facts.t)",
  "SELECT * FROM clusterAllReplicas('default', facts.t)",
  "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "SELECT * FROM executable('x', 'CSV', 'a String')",
  "SELECT * FROM sqlite('/x', 't')",
  "SELECT * FROM dictionary('x')",
  "SELECT * FROM eval('SELECT 1')",
  "SELECT * FROM view(SELECT * FROM file('/etc/hostname', 'LineAsString'))",
  "WITH x AS (SELECT file('/etc/hostname')) SELECT * FROM x",
  "SELECT reverseDNSQuery('127.0.0.1')",
  "SELECT addressToLine(1)",
  "SELECT sleep(3)",
];

t.test("the read-only port", async (t) => {
  const port = await freePort();
  const under: EngineUnderTest = await startEngine(t, { sqlPort: { port, user: "bi", password: "s3cret" } });
  const owner = quietClient(t, under.endpoint);
  await owner.command({ query: "CREATE DATABASE facts" });
  await owner.command({
    query: "CREATE TABLE facts.t (a UInt64, b UInt64 COMMENT 'in cents') ENGINE = MergeTree ORDER BY a",
  });
  await owner.command({ query: "INSERT INTO facts.t SELECT number, 2 FROM numbers(100000)" });
  const endpoint = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const out = `${under.dataDir}/out`;

  await t.test("lets statements through that read tables", async (t) => {
    for (const body of allowed) {
      const { status, body: answer } = await ask(endpoint, "/", { body });
      t.equal(status, 200, `${body}: ${answer.toString("utf8").slice(0, 200)}`);
    }
  });

  await t.test("refuses everything else", async (t) => {
    for (const template of refused) {
      const body = template.replace("{out}", out);
      const { status, body: answer } = await ask(endpoint, "/", { body });
      t.not(status, 200, `${body}: ${answer.toString("utf8").slice(0, 200)}`);
      t.match(answer.toString("utf8"), /^Code: \d+\. DB::Exception/);
    }
    t.notOk(existsSync(out), "no file was written");
    t.equal(
      (await ask(endpoint, "/", { body: "SELECT count(), sum(b) FROM facts.t" })).body.toString(),
      "100000\t200000\n",
    );
  });

  await t.test("refuses names that come as parameters", async (t) => {
    for (const path of [
      "/?param_t=processes",
      "/?param_t=system.processes",
      "/?database=system&param_t=processes",
    ]) {
      const { status } = await ask(endpoint, path, { body: "SELECT * FROM {t:Identifier}" });
      t.not(status, 200, path);
    }
    t.not((await ask(endpoint, "/?database=system", { body: "SELECT * FROM processes" })).status, 200);
    const plain = await ask(endpoint, "/?param_t=t&database=facts", {
      body: "SELECT count() FROM {t:Identifier}",
    });
    t.equal(plain.body.toString(), "100000\n");
  });

  await t.test("takes settings about the answer, and no others", async (t) => {
    const ok = await ask(
      endpoint,
      "/?output_format_json_quote_64bit_integers=0&session_timezone=Asia/Tokyo&max_result_rows=10&result_overflow_mode=break&max_block_size=10&default_format=JSONEachRow",
      {
        body: "SELECT toUInt64(1) AS a, timezone() AS z",
      },
    );
    t.equal(ok.body.toString(), '{"a":1,"z":"Asia\\/Tokyo"}\n');
    for (const setting of [
      "readonly=0&max_threads=1&allow_ddl=1",
      "allow_introspection_functions=1",
      "max_rows_to_group_by=1",
      "async_insert=1",
      "format_schema=/etc/x",
    ]) {
      t.match(
        (await ask(endpoint, `/?${setting}`, { body: "SELECT 1" })).body.toString(),
        /^Code: 164\. .*\(READONLY\)/,
        setting,
      );
    }
    const limit = async (asked: string) =>
      (
        await ask(endpoint, `/?max_execution_time=${asked}`, {
          body: "SELECT getSetting('max_execution_time')",
        })
      ).body.toString();
    t.equal(await limit("5"), "5\n");
    t.equal(await limit("0"), "300\n", "no limit is above the limit");
    t.equal(await limit("100000"), "300\n");
  });

  await t.test("has a user of its own, who is nobody on the main port", async (t) => {
    t.equal((await ask({ ...endpoint, password: "wrong" }, "/", { body: "SELECT 1" })).status, 403);
    t.equal(
      (await ask({ ...under.endpoint, username: "bi", password: "s3cret" }, "/", { body: "SELECT 1" }))
        .status,
      403,
    );
    t.equal(
      (
        await ask(
          { ...endpoint, username: under.endpoint.username, password: under.endpoint.password },
          "/",
          { body: "SELECT 1" },
        )
      ).status,
      403,
    );
  });

  await t.test("a client library reads a long result from it", async (t) => {
    const client = quietClient(t, endpoint, "facts");
    const result = await client.query({ query: "SELECT a, b FROM t ORDER BY a", format: "JSONEachRow" });
    let rows = 0;
    for await (const chunk of result.stream()) rows += chunk.length;
    t.equal(rows, 100_000);
  });
});
