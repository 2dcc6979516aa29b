/** The read-only port for BI tools permits reads, and refuses known ways around that. */
import { existsSync } from "node:fs";
import t from "tap";
import {
  type EngineUnderTest,
  quietClient,
  sendRequest,
  sqlListener,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";

const allowed: readonly string[] = [
  "SELECT count() FROM facts.t",
  "select a, sum(b) from facts.t group by a order by a limit 10 format CSV",
  "select a, sum(b) from t group by a order by a limit 10 format CSV",
  "WITH 1 AS x SELECT x /* comment */ -- another",
  "WITH x AS (SELECT a FROM t) SELECT count() FROM x, facts.t AS y WHERE x.a = y.a AND y.a < 3",
  "WITH x -> (x + 1) AS f SELECT f(a) FROM t LIMIT 1",
  "(SELECT 1) UNION ALL (SELECT 2)",
  "SELECT 1 INTERSECT SELECT 1",
  "FROM t SELECT a LIMIT 1",
  "SHOW TABLES",
  "SHOW TABLES FROM facts",
  "SHOW TABLES FROM facts LIKE 't%'",
  "SHOW DATABASES",
  "SHOW CREATE TABLE facts.t",
  "SHOW COLUMNS FROM t FROM facts",
  "DESCRIBE TABLE facts.t",
  "DESCRIBE (SELECT a FROM t)",
  "EXPLAIN SELECT a FROM facts.t",
  "EXPLAIN indexes = 1 SELECT a FROM facts.t WHERE a = 1",
  "EXPLAIN AST SELECT a FROM facts.t",
  "EXISTS TABLE facts.t",
  "SELECT name FROM system.tables WHERE database = 'facts'",
  'SELECT `system`.`tables`.name FROM "system".tables',
  "SELECT * FROM system.tables",
  "SELECT * FROM system.databases",
  "SELECT name, type, comment FROM system.columns WHERE table = 't'",
  "SELECT name, value FROM system.settings LIMIT 1",
  "SELECT name FROM system.functions LIMIT 1",
  "SELECT name FROM system.data_type_families LIMIT 1",
  "SELECT errors, t.disks FROM (SELECT 1 AS errors, 2 AS disks) AS t WHERE errors IN range(3)",
  "SELECT x FROM facts.t ARRAY JOIN range(2) AS x LIMIT 1",
  "SELECT sum(a), max(b), arrayMap(x -> (x + 1), [1]) FROM facts.t WHERE a IN (SELECT number FROM numbers(3))",
  "SELECT sumIf(a, b = 2), uniqExactIf(a, 1), quantile(0.5)(a), argMax(a, b), countDistinct(a) FROM t",
  "SELECT a IN facts.t, a IN (1, 2), a IN (facts.t) FROM (SELECT 1 AS a) WHERE 0",
  "SELECT a, row_number() OVER (PARTITION BY b ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t LIMIT 1",
  "SELECT sum(b) OVER w FROM t WINDOW w AS (ORDER BY a) QUALIFY 1 LIMIT 1",
  "SELECT b, sum(a) FROM t GROUP BY GROUPING SETS ((b), ()) HAVING 1 LIMIT 1",
  "SELECT a FROM t ORDER BY a WITH FILL FROM 0 TO 3 STEP 1 LIMIT 1 BY a LIMIT 2 OFFSET 1",
  "SELECT t.*, * EXCEPT (a), COLUMNS('a'), * REPLACE (a AS a) FROM t LIMIT 1",
  "SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, a::String, INTERVAL 1 DAY, EXISTS (SELECT 1), a = 1 ? 1 : 2, a BETWEEN 1 AND 2 FROM t LIMIT 1",
  "SELECT toStartOfMonth(now()), EXTRACT(DAY FROM now()), formatDateTime(now(), '%Y'), trim(BOTH 'a' FROM 'abc')",
  "SELECT * FROM information_schema.tables LIMIT 1",
  "SELECT * FROM INFORMATION_SCHEMA.COLUMNS LIMIT 1",
  "SELECT number FROM numbers(3)",
  "SELECT * FROM values('a UInt8', 1, 2)",
  "SELECT * FROM view(SELECT a FROM facts.t) LIMIT 1",
  "SELECT a AS `Δ À é`, a AS `it's` FROM t LIMIT 1",
  "SELECT 1 AS `x.file`, tuple(1)::Tuple(file UInt8) AS a",
  "SELECT 1 AS `a\nFunction file`",
  "SELECT 'INTO OUTFILE', 'file(''/etc/hostname'')', 1 AS `SETTINGS x = 1`",
  "SELECT displayName(), version(), revision(), timezone(), currentUser(), currentDatabase(), hostName()",
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
  "SET max_rows_to_group_by = 1",
  "SET readonly = 0",
  "SET ROLE ALL",
  "USE other",
  "BACKUP TABLE facts.t TO File('x')",
  "UNDROP TABLE facts.t",
  "EXECUTE AS default SELECT 1",
  "GRANT SELECT ON *.* TO default",
  "CHECK TABLE facts.t",
  "SHOW PROCESSLIST",
  "SHOW GRANTS FOR default",
  "SHOW CLUSTERS",
  "SHOW SETTINGS LIKE '%'",
  "SHOW TABLES WHERE name IN (SELECT toString(a) FROM facts.t)",
  "SHOW COLUMNS FROM t FROM facts WHERE 1 IN (SELECT file('/etc/hostname'))",
  "EXPLAIN CURRENT TRANSACTION",
  "EXPLAIN AST INSERT INTO facts.t VALUES (1, 1)",
  "SELECT 1 SETTINGS readonly = 0",
  "SELECT 1 SETTINGS max_rows_to_group_by = 1",
  "SELECT 1 FORMAT CSV SETTINGS max_rows_to_group_by = 1",
  "SELECT a.file FROM (SELECT tuple(1)::Tuple(file UInt8) AS a) AS t",
  "SELECT 1 FORMAT Protobuf SETTINGS output_format_schema = '{out}'",
  "SELECT (SELECT 1 SETTINGS max_threads = 1)",
  "SELECT 1 FORMAT Protobuf",
  "SELECT 1 FORMAT Template",
  "SELECT * FROM system.processes",
  "SELECT * FROM system.`processes`",
  'SELECT * FROM `system`."processes"',
  "SELECT * FROM system.server_settings",
  "SELECT * FROM system.parts",
  "SELECT data_paths FROM system.tables",
  "SELECT metadata_path FROM system.databases",
  "SELECT * FROM system.disks",
  "SELECT * FROM system.users",
  "SELECT * FROM merge('system', 'processes')",
  "SELECT * FROM merge(system, 'proc.*')",
  "SELECT 1 IN system.parts",
  "SELECT 1 IN (system.parts)",
  "SHOW CREATE TABLE system.parts",
  "DESCRIBE TABLE system.parts",
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
  "SELECT * APPLY(x -> (SELECT count() FROM system.parts)) FROM t",
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
  "SELECT * FROM format('CSV', '1')",
  "SELECT * FROM mergeTreeIndex('facts', 't')",
  "SELECT * FROM view(SELECT * FROM file('/etc/hostname', 'LineAsString'))",
  "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))",
  "WITH x AS (SELECT file('/etc/hostname')) SELECT * FROM x",
  "SELECT formatRow('CSV', 1)",
  "SELECT joinGet('facts.t', 'b', 1)",
  "SELECT hasColumnInTable('facts', 't', 'a')",
  "SELECT dictGet('x', 'y', 1)",
  "SELECT filesystemCapacity()",
  "SELECT getServerSetting('max_server_memory_usage')",
  "SELECT reverseDNSQuery('127.0.0.1')",
  "SELECT addressToLine(1)",
  "SELECT sleep(3)",
];

const owner = { user: "bi", password: "s3cret", databases: ["facts"] };
const both = { user: "both", password: "b0th", databases: ["facts", "other"] };

t.test("the SQL port allows its users to read their own tables only", async (t) => {
  const port = await freePort();
  const under: EngineUnderTest = await startEngine(t, { sqlPort: sqlListener(port, [owner, both]) });
  const service = quietClient(t, under.endpoint);
  for (const query of [
    "CREATE DATABASE facts",
    "CREATE TABLE facts.t (a UInt64, b UInt64 COMMENT 'in cents') ENGINE = MergeTree ORDER BY a",
    "INSERT INTO facts.t SELECT number, 2 FROM numbers(100000)",
    "CREATE DATABASE other",
    "CREATE TABLE other.secret_table (secret_column UInt64) ENGINE = MergeTree ORDER BY secret_column",
    "CREATE VIEW facts.v AS SELECT sum(b) AS cents FROM facts.t",
  ])
    await service.command({ query });
  const endpoint = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const everything = { ...endpoint, username: "both", password: "b0th" };
  const out = `${under.dataDir}/out`;
  const said = async (query: string, as = endpoint, path = "/") =>
    (await sendRequest(as, path, { body: query })).body.toString();

  await t.test("the SQL port accepts statements that read tables", async (t) => {
    for (const body of allowed) {
      const { status, body: response } = await sendRequest(endpoint, "/", { body });
      t.equal(status, 200, `${body}: ${response.toString("utf8").slice(0, 200)}`);
    }
  });

  await t.test("the SQL port refuses all other statements", async (t) => {
    for (const template of refused) {
      const body = template.replace("{out}", out);
      const { status, body: response } = await sendRequest(endpoint, "/", { body });
      t.not(status, 200, `${body}: ${response.toString("utf8").slice(0, 200)}`);
      t.match(response.toString("utf8"), /^Code: \d+\. DB::Exception/);
    }
    t.notOk(existsSync(out), "no file was written");
    t.equal(await said("SELECT count(), sum(b) FROM facts.t"), "100000\t200000\n");
  });

  await t.test("the SQL port refuses forbidden names in parameters", async (t) => {
    for (const [path, body] of [
      ["/?param_t=processes", "SELECT * FROM {t:Identifier}"],
      ["/?param_t=system.processes", "SELECT * FROM {t:Identifier}"],
      ["/?database=system&param_t=processes", "SELECT * FROM {t:Identifier}"],
      ["/?param_d=system&param_t=parts", "SELECT * FROM {d:Identifier}.{t:Identifier}"],
      ["/?param_d=other&param_t=secret_table", "SELECT * FROM {d:Identifier}.{t:Identifier}"],
      ["/?param_f=file", "SELECT arrayMap({f:Identifier}, ['/etc/hostname'])"],
      ["/?param_t=t%0A%20Literal", "SELECT * FROM {t:Identifier}"],
      ["/?database=system", "SELECT * FROM processes"],
      ["/?database=other", "SELECT 1"],
    ] as const) {
      t.not((await sendRequest(endpoint, path, { body })).status, 200, `${path} ${body}`);
    }
    t.equal(
      await said("SELECT count() FROM {t:Identifier} WHERE a < {n:UInt8}", endpoint, "/?param_t=t&param_n=5"),
      "5\n",
    );
  });

  await t.test("a SQL user sees only the databases of its tenants, and no other names", async (t) => {
    t.equal(await said("SHOW DATABASES"), "facts\n");
    t.equal(await said("SELECT currentDatabase()", endpoint, "/?database=default"), "facts\n");
    t.equal(await said("SELECT name FROM system.databases"), "facts\n");
    t.equal(await said("SELECT DISTINCT database FROM system.tables"), "facts\n");
    t.equal(await said("SELECT count() FROM system.tables"), "2\n");
    t.equal(await said("SELECT DISTINCT database FROM system.columns"), "facts\n");
    t.equal(await said("SELECT DISTINCT table_schema FROM information_schema.tables"), "facts\n");
    t.equal(await said("SELECT cents FROM v"), "200000\n");
    for (const table of [
      "schemata",
      "tables",
      "views",
      "columns",
      "key_column_usage",
      "referential_constraints",
      "statistics",
    ])
      t.notMatch(await said(`SELECT * FROM information_schema.${table}`), /other|secret/, table);
    for (const [there, nowhere] of [
      ["SELECT * FROM other.secret_table", "SELECT * FROM nowhere.secret_table"],
      ["SELECT 1 IN other.secret_table", "SELECT 1 IN nowhere.secret_table"],
      ["DESCRIBE TABLE other.secret_table", "DESCRIBE TABLE nowhere.secret_table"],
      ["SHOW TABLES FROM other", "SHOW TABLES FROM nowhere"],
      ["SHOW CREATE TABLE other.secret_table", "SHOW CREATE TABLE nowhere.secret_table"],
      ["EXISTS TABLE other.secret_table", "EXISTS TABLE nowhere.secret_table"],
      ["SELECT 1 AS x FROM view(SELECT 1 FROM other.x)", "SELECT 1 AS x FROM view(SELECT 1 FROM nowhere.x)"],
      ["SHOW COLUMNS FROM secret_table FROM other", "SHOW COLUMNS FROM secret_table FROM nowhere"],
    ] as const) {
      t.equal((await said(there)).replaceAll("other", "nowhere"), await said(nowhere), there);
    }
    for (const wrong of [
      "secret_tabl",
      "secret_table",
      "facts.secret_table",
      "othe.secret_table",
      "system.tablez",
    ])
      t.notMatch(await said(`SELECT * FROM ${wrong}`), /Maybe you meant (?!system\.)|other\b/, wrong);
    t.equal(await said("SHOW DATABASES", everything), "facts\nother\n");
    t.equal(await said("SELECT count() FROM other.secret_table, facts.v", everything), "0\n");
    t.equal(await said("SELECT count() FROM t", everything, "/?database=facts"), "100000\n");
  });

  await t.test("no table that a SQL user may read contains a path", async (t) => {
    const listed = await said("SELECT name FROM system.functions LIMIT 0");
    t.equal(listed, "");
    const seen = [
      "databases",
      "tables",
      "columns",
      "settings",
      "functions",
      "table_functions",
      "formats",
      "table_engines",
    ];
    for (const table of seen) {
      const { status, body } = await sendRequest(endpoint, "/", {
        body: `SELECT * FROM system.${table} FORMAT TSV`,
      });
      t.equal(status, 200, table);
      t.notOk(body.includes(under.dataDir), table);
      t.notOk(body.includes("/store/"), table);
    }
    t.notOk((await said("SHOW CREATE TABLE facts.t")).includes(under.dataDir));
    const failed = await said(`SELECT throwIf(1, 'at ${under.dataDir}/engine/store/x and /var/lib/x')`);
    t.match(failed, /Code: 395/);
    t.notMatch(failed, /embedded-clickhouse|\/var\/lib/);
  });

  await t.test("the SQL port accepts settings of the response, and no others", async (t) => {
    const ok = await sendRequest(
      endpoint,
      "/?output_format_json_quote_64bit_integers=0&session_timezone=Asia/Tokyo&max_result_rows=10&result_overflow_mode=break&max_block_size=10&default_format=JSONEachRow",
      {
        body: "SELECT toUInt64(1) AS a, timezone() AS z",
      },
    );
    t.equal(ok.body.toString(), '{"a":1,"z":"Asia\\/Tokyo"}\n');
    for (const setting of [
      "readonly=0&max_rows_to_group_by=1&allow_ddl=1",
      "allow_introspection_functions=1",
      "max_rows_to_group_by=1",
      "async_insert=1",
      "format_schema=/etc/x",
      "output_format_schema=/etc/x",
      "format_template_row=/etc/x",
      "format_avro_schema_registry_url=http://127.0.0.1:1/",
      "enable_analyzer=0",
    ]) {
      t.match(
        (await sendRequest(endpoint, `/?${setting}`, { body: "SELECT 1" })).body.toString(),
        /^Code: 164\. .*\(READONLY\)/,
        setting,
      );
    }
    const limit = async (requested: string) =>
      await said("SELECT getSetting('max_execution_time')", endpoint, `/?max_execution_time=${requested}`);
    t.equal(await limit("5"), "5\n");
    t.equal(await limit("0"), "60\n", "no limit exceeds the configured one");
    t.equal(await limit("100000"), "60\n");
    t.equal(await limit("x"), "60\n");
    t.equal(await said("SELECT count() FROM system.tables", endpoint, "/?limit=1"), "2\n");
    t.match(
      await said("SELECT 1", endpoint, "/?default_format=ProtobufSingle"),
      /^Code: 73\. .*\(UNKNOWN_FORMAT\)/,
    );
  });

  await t.test("users of the SQL port cannot sign on at the service's socket", async (t) => {
    t.equal((await sendRequest({ ...endpoint, password: "wrong" }, "/", { body: "SELECT 1" })).status, 403);
    t.equal((await sendRequest({ ...endpoint, username: "both" }, "/", { body: "SELECT 1" })).status, 403);
    t.equal((await sendRequest(endpoint, "/?user=bi&password=s3cret", { body: "SELECT 1" })).status, 403);
    t.equal(
      (
        await sendRequest(endpoint, "/?query=SELECT+1&user=bi&password=s3cret", {
          method: "GET",
          anonymous: true,
        })
      ).status,
      403,
    );
    t.equal(
      (
        await sendRequest({ ...under.endpoint, username: "bi", password: "s3cret" }, "/", {
          body: "SELECT 1",
        })
      ).status,
      403,
    );
    const { username, password } = under.endpoint;
    t.equal((await sendRequest({ ...endpoint, username, password }, "/", { body: "SELECT 1" })).status, 403);
  });

  await t.test("a web page cannot use the SQL port", async (t) => {
    const requested = async (headers: Record<string, string>) =>
      (await sendRequest(endpoint, "/?query=SELECT+1", { method: "GET", headers })).status;
    t.equal(await requested({ Origin: "https://evil.example" }), 403);
    t.equal(await requested({ Origin: "null" }), 403);
    for (const site of ["cross-site", "same-site", "same-origin"])
      t.equal(await requested({ "Sec-Fetch-Site": site }), 403, site);
    t.equal(await requested({ "Sec-Fetch-Site": "none" }), 200);
    t.equal(await requested({ Host: `evil.example:${port}` }), 403);
    t.equal(await requested({ Host: `localhost:${port}` }), 200);
    t.equal(await requested({ Host: `[::1]:${port}` }), 200);
    t.equal(
      (
        await sendRequest(endpoint, "/ping", {
          method: "GET",
          anonymous: true,
          headers: { Host: "evil.example" },
        })
      ).status,
      403,
    );
    const preflight = await sendRequest(endpoint, "/", {
      method: "OPTIONS",
      anonymous: true,
      headers: { Origin: "https://evil.example" },
    });
    t.equal(preflight.status, 403);
    t.equal(preflight.headers["access-control-allow-origin"], undefined);
  });

  await t.test("a client library reads a long result from the SQL port", async (t) => {
    const client = quietClient(t, endpoint, "facts");
    const result = await client.query({ query: "SELECT a, b FROM t ORDER BY a", format: "JSONEachRow" });
    let rows = 0;
    for await (const chunk of result.stream()) rows += chunk.length;
    t.equal(rows, 100_000);
  });
});
