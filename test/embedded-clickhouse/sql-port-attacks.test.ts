/** A SQL user tries to reach another tenant's costs, files and secrets on a running port. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { isRefusedFunction } from "../../src/embedded-clickhouse/server/sql-port/admitted-functions.js";
import { ADMITTED_SETTINGS } from "../../src/embedded-clickhouse/server/sql-port/admitted-settings.js";
import { checkWords } from "../../src/embedded-clickhouse/server/sql-port/check-words.js";
import {
  engineResponseText,
  quietClient,
  sendRequest,
  sqlListener,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";

const AT_ONCE = 4;
const SECRET = "the-secret-of-a-file";

/**
 * `@` is the name of a function that is not admitted, `!` a path. In each statement, an alias, a CTE, a column or a
 * parameter has the same name.
 */
const SAME_NAME = [
  "SELECT @('!')",
  "WITH (x -> x) AS @ SELECT @('!')",
  "SELECT (x -> x) AS @, @('!')",
  "SELECT @('!') FROM (WITH (x -> x) AS @ SELECT 1)",
  "SELECT @('!') FROM (SELECT 1 WHERE (WITH (x -> x) AS @ SELECT 1) = 1)",
  "WITH (x -> x) AS @ SELECT (SELECT @('!'))",
  "WITH c AS (WITH (x -> x) AS @ SELECT 1) SELECT @('!') FROM c",
  "SELECT @('!') UNION ALL (WITH (x -> x) AS @ SELECT @('a'))",
  "SELECT @('!') FROM view(WITH (x -> x) AS @ SELECT 1)",
  "WITH @ AS (SELECT 1) SELECT @('!') FROM @",
  "WITH 1 AS @ SELECT @('!')",
  "SELECT 1 AS @, @('!')",
  "SELECT @('!') FROM (SELECT 1 AS @)",
  "SELECT @('!') FROM numbers(1) AS @",
  "SELECT arrayMap(@ -> @('!'), [1])",
  "SELECT arrayMap(@, ['!'])",
  "SELECT arrayMap(@, ['!']) FROM (WITH (x -> x) AS @ SELECT 1)",
  "WITH (x -> x) AS f SELECT f(@('!'))",
  "WITH @ AS f SELECT arrayMap(f, ['!'])",
  "SELECT * APPLY(@) FROM (SELECT '!' AS a)",
  "SELECT * APPLY(x -> @(x)) FROM (SELECT '!' AS a)",
  "SELECT * REPLACE (@('!') AS a) FROM (SELECT 1 AS a)",
  "SELECT sum(1) OVER (ORDER BY @('!'))",
  "SELECT 1 ORDER BY @('!') WITH FILL FROM 1 TO 2",
  "SELECT 1 AS a ORDER BY a WITH FILL INTERPOLATE (a AS @('!'))",
  "SELECT 1 LIMIT length(@('!'))",
  "SELECT 1 WHERE 1 IN (SELECT @('!'))",
  "SELECT 1 GROUP BY 1 HAVING @('!') = '' QUALIFY @('!') = ''",
  "DESCRIBE (SELECT @('!'))",
  "EXPLAIN SYNTAX SELECT @('!')",
  "EXPLAIN QUERY TREE SELECT @('!')",
  "SELECT 1 FROM numbers(1) AS a JOIN numbers(1) AS b ON @('!') = a.number",
  "SELECT `@`('!')",
  "SELECT \"@\"('!')",
  "SELECT @If('!', 1)",
] as const;

/** `%` is another tenant's database, or one that does not exist. The responses are equal except for its name. */
const OTHER_DATABASE = [
  "SELECT * FROM %.costs",
  "SELECT amounts FROM %.costs",
  "SELECT nope, amount FROM %.costs",
  "SELECT toTypeName(amount) FROM %.costs",
  "SELECT count() FROM %.costs",
  "SELECT %.costs.amounts FROM own",
  "SELECT 1 IN %.costs, nope",
  "SELECT in(1, %.costs), nope",
  "SELECT globalNotIn(1, %.costs), nope",
  "SELECT 1 IN (%.costs), nope",
  "SELECT nullIn(1, %.costs), nope",
  "SELECT amounts FROM own, %.costs",
  "SELECT amounts FROM %.costs, nowhere.costs",
  "SELECT amounts FROM own JOIN %.costs AS o ON own.a = o.amounts",
  "SELECT (SELECT amounts FROM %.costs)",
  "WITH c AS (SELECT amounts FROM %.costs) SELECT * FROM c",
  "WITH (SELECT amounts FROM %.costs) AS c SELECT c",
  "SELECT a FROM own WHERE a IN (SELECT amounts FROM %.costs)",
  "SELECT a FROM own PREWHERE a IN (SELECT amounts FROM %.costs)",
  "SELECT a FROM own GROUP BY a, (SELECT amounts FROM %.costs)",
  "SELECT a FROM own GROUP BY a HAVING a IN (SELECT amounts FROM %.costs)",
  "SELECT a FROM own QUALIFY a IN (SELECT amounts FROM %.costs)",
  "SELECT a FROM own ORDER BY (SELECT amounts FROM %.costs)",
  "SELECT a FROM own ORDER BY a WITH FILL FROM (SELECT amounts FROM %.costs)",
  "SELECT a FROM own ORDER BY a WITH FILL INTERPOLATE (b AS (SELECT amounts FROM %.costs))",
  "SELECT a FROM own LIMIT (SELECT amounts FROM %.costs)",
  "SELECT a FROM own LIMIT (SELECT amounts FROM %.costs) BY a",
  "SELECT a FROM own LIMIT 1 OFFSET (SELECT amounts FROM %.costs)",
  "SELECT sum(a) OVER (ORDER BY (SELECT amounts FROM %.costs)) FROM own",
  "SELECT sum(a) OVER w FROM own WINDOW w AS (PARTITION BY (SELECT amounts FROM %.costs))",
  "SELECT a FROM own ARRAY JOIN [(SELECT amounts FROM %.costs)] AS x",
  "SELECT * REPLACE ((SELECT amounts FROM %.costs) AS a) FROM own",
  "SELECT arrayMap(x -> (SELECT amounts FROM %.costs), [1])",
  "SELECT quantile((SELECT amounts FROM %.costs))(a) FROM own",
  "SELECT * FROM numbers((SELECT amounts FROM %.costs))",
  "SELECT * FROM values('a UInt8', (SELECT amounts FROM %.costs))",
  "SELECT * FROM view(SELECT amounts FROM %.costs)",
  "SELECT 1 UNION ALL SELECT amounts FROM %.costs",
  "SELECT 1 EXCEPT SELECT amounts FROM %.costs",
  "SELECT EXISTS (SELECT amounts FROM %.costs)",
  "SELECT CASE WHEN (SELECT amounts FROM %.costs) THEN 1 END",
  "SELECT CAST((SELECT amounts FROM %.costs), 'UInt8')",
  "SELECT amounts FROM %.costs SAMPLE 1 / 2",
  "SELECT amounts FROM %.costs FINAL",
  "SELECT * APPLY(x -> (SELECT amounts FROM %.costs)) FROM own",
  "SELECT * FROM `%`.`costs`",
  'SELECT * FROM "%"."costs"',
  "SELECT * FROM merge('%', '.*')",
  "SELECT * FROM merge(%, '.*')",
  "SELECT * FROM remote('127.0.0.1', %.costs)",
  "SELECT hasColumnInTable('%', 'costs', 'amount')",
  "SELECT joinGet('%.costs', 'amount', 1)",
  "SELECT * FROM mergeTreeIndex('%', 'costs')",
  "DESCRIBE TABLE %.costs",
  "DESCRIBE (SELECT amounts FROM %.costs)",
  "EXPLAIN SELECT amounts FROM %.costs",
  "EXPLAIN AST SELECT amounts FROM %.costs",
  "EXPLAIN SYNTAX run_query_tree_passes = 1 SELECT * FROM %.costs",
  "EXPLAIN QUERY TREE SELECT * FROM %.costs",
  "EXPLAIN ESTIMATE SELECT * FROM %.costs",
  "SHOW TABLES FROM %",
  "SHOW TABLES IN % LIKE 'costs'",
  "SHOW COLUMNS FROM costs FROM %",
  "SHOW COLUMNS FROM %.costs",
  "SHOW CREATE TABLE %.costs",
  "SHOW CREATE VIEW %.costs",
  "SHOW CREATE DATABASE %",
  "EXISTS TABLE %.costs",
  "EXISTS VIEW %.costs",
  "EXISTS DATABASE %",
  "USE %",
  "SELECT 1 SETTINGS additional_table_filters = {'facts.own': 'a IN (SELECT amounts FROM %.costs)'}",
  "SELECT a FROM own SETTINGS additional_table_filters = {'own': 'a IN (SELECT amounts FROM %.costs)'}",
  "SELECT a FROM own SETTINGS additional_table_filters = {'own': 'a IN %.costs'}",
  "SELECT name FROM system.tables AS x SETTINGS additional_table_filters = {'x': '1', 'system.tables': 'database = \\'%\\''}",
  "SELECT name FROM system.databases WHERE name = '%'",
  "SELECT name FROM system.columns WHERE database = '%'",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = '%'",
] as const;

const EXPLAINS = [
  "EXPLAIN",
  "EXPLAIN AST",
  "EXPLAIN AST graph = 1",
  "EXPLAIN AST optimize = 1",
  "EXPLAIN SYNTAX",
  "EXPLAIN SYNTAX oneline = 1, run_query_tree_passes = 1",
  "EXPLAIN QUERY TREE",
  "EXPLAIN QUERY TREE run_passes = 0, dump_ast = 1",
  "EXPLAIN PLAN header = 1, actions = 1, indexes = 1",
  "EXPLAIN PLAN json = 1",
  "EXPLAIN PIPELINE header = 1",
  "EXPLAIN PIPELINE graph = 1, compact = 0",
  "EXPLAIN ESTIMATE",
];

const own = { user: "bi", password: "s3cret", databases: ["facts"] };

t.test("a SQL user cannot reach other tenants, files or secrets", async (t) => {
  const port = await freePort();
  const under = await startEngine(t, { sqlPort: sqlListener(port, [own]) });
  const service = quietClient(t, under.endpoint);
  for (const query of [
    "CREATE DATABASE facts",
    "CREATE TABLE facts.own (a UInt64, b UInt64) ENGINE = MergeTree ORDER BY a",
    "INSERT INTO facts.own SELECT number, 2 FROM numbers(10)",
    "CREATE DATABASE another",
    "CREATE TABLE another.costs (amount UInt64) ENGINE = MergeTree ORDER BY amount",
    "INSERT INTO another.costs VALUES (123454321)",
  ])
    await service.command({ query });
  const path = join(t.testdir(), "secret");
  await writeFile(path, SECRET);
  const endpoint = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const said = async (body: string, query = "") =>
    (await sendRequest(endpoint, `/?${query}`, { body })).body.toString("utf8");
  const names = async (table: string) =>
    (await engineResponseText(service, `SELECT name FROM system.${table}`)).split("\n");
  async function each<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
    for (let at = 0; at < items.length; at += AT_ONCE)
      await Promise.all(items.slice(at, at + AT_ONCE).map(run));
  }

  await t.test("no alias, CTE, column or parameter allows a function of the same name", async (t) => {
    const listed = async (table: string) => new Set((await names(table)).map((name) => name.toLowerCase()));
    const engine = { functions: await listed("functions"), tableFunctions: await listed("table_functions") };
    const refused = (await names("functions")).filter((name) => isRefusedFunction(name, engine.functions));
    t.ok(refused.length > 130 && refused.includes("file"), `${refused.length} functions`);
    const wrong: string[] = [];
    const isRight = (response: string) =>
      /is not admitted on this read-only port/.test(response) && !response.includes(SECRET);
    const attempt = async (statement: string, query = "") => {
      const response = await said(statement, query);
      if (!isRight(response)) wrong.push(`${statement} ${query}: ${response.slice(0, 120)}`);
    };
    const written = (form: string, name: string) => form.replaceAll("@", () => name).replaceAll("!", path);
    // Each function in forms that once admitted all of them, and the other forms with the most dangerous functions.
    await each(refused, async (name) => {
      for (const form of [SAME_NAME[3], SAME_NAME[12]]) await attempt(written(form, name));
      await attempt(`SELECT arrayMap({f:Identifier}, ['${path}'])`, `param_f=${name}`);
    });
    await each(["file", "FILE", "sleep", "getServerSetting", "hasColumnInTable", "dictGet"], async (name) => {
      for (const form of SAME_NAME) await attempt(written(form, name));
      const filter = encodeURIComponent(`{'own': '${name}(''${path}'') = a'}`);
      await attempt("SELECT a FROM own", `additional_table_filters=${filter}`);
    });
    for (const name of refused)
      for (const form of SAME_NAME)
        try {
          checkWords(written(form, name), new Map(), { engine, databases: ["facts"] });
          wrong.push(written(form, name));
        } catch (error) {
          if (!isRight(String(error))) wrong.push(String(error));
        }
    t.strictSame(wrong, []);
  });

  await t.test(
    "another tenant's table is refused anywhere in a statement, like one that does not exist",
    async (t) => {
      for (const form of OTHER_DATABASE) {
        const there = await said(form.replaceAll("%", "another"));
        t.equal(there.replaceAll("another", "nowhere"), await said(form.replaceAll("%", "nowhere")), form);
        t.notMatch(there, /123454321|amount\b/, form);
      }
    },
  );

  await t.test("another tenant's table is refused as the value of a name parameter", async (t) => {
    for (const [query, body] of [
      ["param_t=another.costs", "SELECT nope FROM {t:Identifier}"],
      ["param_d=another&param_t=costs", "SELECT nope FROM {d:Identifier}.{t:Identifier}"],
      ["param_d=another&param_t=costs", "SELECT 1 IN {d:Identifier}.{t:Identifier}"],
      ["param_t=another.costs", "SELECT 1 IN {t:Identifier}"],
      ["param_t=another.costs", "SELECT in(1, {t:Identifier})"],
      ["param_t=%60another%60.%60costs%60", "SELECT nope FROM {t:Identifier}"],
    ] as const) {
      const there = await said(body, query);
      const nowhere = await said(body, query.replace("another", "nowhere"));
      t.match(there, /^Code: (81|164)\. /, body);
      t.equal(there.replaceAll("another", "nowhere"), nowhere, body);
    }
  });

  await t.test("no kind of EXPLAIN shows the engine's folder in any format", async (t) => {
    for (const explain of EXPLAINS)
      for (const statement of ["SELECT 1", "SELECT a, sum(b) FROM own WHERE a < 3 GROUP BY a", "(SELECT 1)"])
        for (const format of ["", " FORMAT JSON", " FORMAT Native"]) {
          const { status, body } = await sendRequest(endpoint, "/", {
            body: `${explain} ${statement}${format}`,
          });
          const shown = body.toString("latin1");
          t.equal(status, 200, `${explain} ${statement}${format}: ${shown.slice(0, 200)}`);
          t.notMatch(shown, /embedded-clickhouse|\/io\/|OUTFILE|APPEND/, `${explain} ${statement}${format}`);
        }
    for (const body of [
      "EXPLAIN CURRENT TRANSACTION",
      "EXPLAIN AST INSERT INTO facts.own VALUES (1, 1)",
      "EXPLAIN AST a = 1, b = 2 DROP TABLE facts.own",
      "EXPLAIN AST EXPLAIN AST SELECT 1",
      "EXPLAIN AST SELECT 1 INTO OUTFILE '/tmp/x'",
      "SELECT * FROM (EXPLAIN AST SELECT 1 INTO OUTFILE '/tmp/x')",
      "EXPLAIN TABLE OVERRIDE mysql('') PARTITION BY a",
    ])
      t.match(await said(body), /^Code: (36|62|164|358|497)\. /, body);
  });

  await t.test("a SQL user cannot read the engine's own tables", async (t) => {
    const wrong: string[] = [];
    const seen = new Set(["databases", "tables", "columns", "functions", "table_functions", "table_engines"]);
    const others = [
      "data_type_families",
      "aggregate_function_combinators",
      "formats",
      "collations",
      "keywords",
    ];
    const rest = ["time_zones", "current_roles", "enabled_roles", "numbers", "one", "settings"];
    for (const name of [...others, ...rest]) seen.add(name);
    const tables = await engineResponseText(
      service,
      "SELECT name FROM system.tables WHERE database = 'system'",
    );
    t.ok(tables.split("\n").length > 80);
    await each(tables.split("\n"), async (name) => {
      const statement = `SELECT * FROM system.${name} LIMIT 1`;
      if (/^Code: /.test(await said(statement)) === seen.has(name)) wrong.push(statement);
      for (const [query, statement] of [
        [`param_t=system.${name}`, "SELECT * FROM {t:Identifier} LIMIT 1"],
        [`param_d=system&param_t=${name}`, "SELECT * FROM {d:Identifier}.{t:Identifier} LIMIT 1"],
      ] as const)
        if (!/^Code: /.test(await said(statement, query))) wrong.push(`${statement} ${query}`);
    });
    t.strictSame(wrong, []);
  });

  await t.test("a role cannot be left, and the statement cannot lift the port's limits", async (t) => {
    for (const body of [
      "SET ROLE ALL",
      "SET ROLE service",
      "SET ROLE DEFAULT",
      "SET ROLE NONE",
      "SET DEFAULT ROLE ALL TO default",
      "SHOW GRANTS FOR service",
      "SHOW ACCESS",
      "SHOW ROLES",
      "SHOW CREATE USER default",
      "EXECUTE AS default SELECT 1",
      "SET max_execution_time = 1; SET ROLE ALL",
      "SET readonly = 0",
      "SET allow_ddl = 1",
      "SET allow_introspection_functions = 1",
      "SET max_threads = 1, output_format_schema = '/tmp/x'",
      "SELECT 1 SETTINGS readonly = 0",
      "SELECT 1 SETTINGS output_format_schema = '/tmp/x' FORMAT CSV",
      "SELECT 1 FORMAT CSV SETTINGS output_format_schema = '/tmp/x'",
      "SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)",
      "SELECT (SELECT 1 SETTINGS max_execution_time = 0)",
      "SELECT 1 SETTINGS max_threads = 1 UNION ALL SELECT 2",
      "SELECT 1 SETTINGS additional_table_filters = {'own': 'a', 'x'}",
      "SELECT 1 SETTINGS additional_table_filters = 'x'",
      "SELECT 1 SETTINGS additional_table_filters = {'own': '1 SETTINGS readonly = 0'}",
      "SELECT a FROM own SETTINGS additional_table_filters = {'own': '1) OR (SELECT 1'}",
    ])
      t.match(await said(body), /^Code: \d+\. DB::Exception/, body);
    t.equal((await sendRequest(endpoint, "/?role=service", { body: "SELECT 1" })).status === 200, false);
    for (const name of ["max_execution_time", "max_memory_usage", "max_result_rows", "max_threads"]) {
      const limit = await said(`SELECT getSetting('${name}')`);
      for (const value of ["0", "1000000000000", "'x'", "-1"])
        t.equal(
          await said(`SELECT getSetting('${name}') SETTINGS ${name} = ${value}`),
          limit,
          `${name} = ${value}`,
        );
    }
    t.notOk(ADMITTED_SETTINGS.has("additional_result_filter"));
  });
});
