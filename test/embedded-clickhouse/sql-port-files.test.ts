/**
 * A SQL client tries every setting, format and function of the engine with the path of a file. No file outside the
 * engine's own folder appears or changes, whatever a new version of the engine adds.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { PROTOCOL_PARAMETERS } from "../../src/embedded-clickhouse/server/protocol-parameters.js";
import { ADMITTED_FORMATS } from "../../src/embedded-clickhouse/server/sql-port/admitted-formats.js";
import {
  isAdmittedTableFunction,
  isRefusedFunction,
} from "../../src/embedded-clickhouse/server/sql-port/admitted-functions.js";
import {
  ADMITTED_SETTINGS,
  LOWERABLE_SETTINGS,
} from "../../src/embedded-clickhouse/server/sql-port/admitted-settings.js";
import {
  engineResponseText,
  quietClient,
  sendRequest,
  sqlListener,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";

/** Formats that write a schema if a setting names a file for it. */
const WITH_SCHEMA = ["Protobuf", "ProtobufSingle", "ProtobufList"];
const AT_ONCE = 8;

/** Functions that are not admitted. The list belongs to a version of the engine, so that new functions are reviewed. */
const REFUSED_FUNCTIONS = `
AIClassify AIExtract AIGenerate AITranslate FQDN __actionName __applyFilter __bitBoolMaskAnd __bitBoolMaskOr __bitSwapLastTwo
__bitWrapperFunc __getScalar __patchPartitionID __scalarSubqueryResult __toYearCalendarOnly addressToLine
addressToLineWithInlines addressToSymbol aiClassify aiEmbed aiExtract aiGenerate aiTranslate arrayLevenshteinDistance
arrayLevenshteinDistanceWeighted arraySimilarity buildId catboostEvaluate damerauLevenshteinDistance demangle
dumpColumnStructure editDistance editDistanceUTF8 evalMLMethod file filesystemAvailable filesystemCapacity
filesystemUnreserved flameGraph formatRow formatRowNoNewline fullHostName fuzzQuery generateSerialID getClientHTTPHeader
getMacro getMaxTableNameLengthForDatabase getMergeTreeSetting getOSKernelVersion getServerPort getServerSetting
hasColumnInTable hasThreadFuzzer isMergeTreePartCoveredBy jaroSimilarity jaroWinklerSimilarity joinGet joinGetOrNull
levenshteinDistance levenshteinDistanceUTF8 logTrace mergeTreePartInfo naiveBayesClassifier naiveBayesClassifierWithAllProbs
naiveBayesClassifierWithProb naiveBayesNgrams serverUUID shardCount shardNum showCertificate sleep sleepEachRow
structureToCapnProtoSchema structureToProtobufSchema tcpPort tid transactionID transactionLatestSnapshot
transactionOldestSnapshot zookeeperSessionUptime
`
  .trim()
  .split(/\s+/);

/** `{out}` is a path outside, `{saved}` a backup that could be restored. */
const FILE_STATEMENTS = [
  ...[
    "DATABASE facts",
    "TABLE facts.t",
    "ALL",
    "TABLE t",
    "TEMPORARY TABLE t",
    "ALL EXCEPT DATABASE system",
  ].flatMap((what) => [`BACKUP ${what} TO File('{out}')`, `RESTORE ${what} FROM File('{saved}')`]),
  "BACKUP DATABASE facts TO File('{out}') ASYNC",
  "BACKUP DATABASE facts TO File('{out}') SYNC FORMAT JSON",
  "BACKUP DATABASE facts TO Disk('default', 'x')",
  "BACKUP DATABASE facts TO S3('http://127.0.0.1:1/b', 'k', 's')",
  "BACKUP DATABASE facts TO Memory('x')",
  "BACKUP DATABASE facts TO Null",
  "backup/**/database facts to file('{out}')",
  "-- SELECT 1\nBACKUP DATABASE facts TO File('{out}')",
  "(BACKUP DATABASE facts TO File('{out}'))",
  "EXPLAIN BACKUP DATABASE facts TO File('{out}')",
  "EXPLAIN AST BACKUP DATABASE facts TO File('{out}')",
  "EXPLAIN SYNTAX BACKUP DATABASE facts TO File('{out}')",
  "WITH 1 AS x BACKUP DATABASE facts TO File('{out}')",
  "SELECT 1; BACKUP DATABASE facts TO File('{out}')",
  "SELECT * FROM (BACKUP DATABASE facts TO File('{out}'))",
  "SELECT 1 UNION ALL BACKUP DATABASE facts TO File('{out}')",
  "RESTORE DATABASE facts AS other FROM File('{saved}')",
  "RESTORE TABLE facts.t AS facts.u FROM File('{saved}') SETTINGS allow_non_empty_tables = 1",
  "EXPLAIN RESTORE DATABASE facts FROM File('{saved}')",
  "PARALLEL WITH BACKUP DATABASE facts TO File('{out}')",
  "EXECUTE AS bi BACKUP DATABASE facts TO File('{out}')",
  "INSERT INTO FUNCTION file('{out}', 'TSV', 'a UInt8') SELECT 1",
  "INSERT INTO facts.t FROM INFILE '{out}' FORMAT TSV",
  "EXPLAIN INSERT INTO FUNCTION file('{out}', 'TSV', 'a UInt8') SELECT 1",
  "CREATE TABLE facts.u (a UInt8) ENGINE = File(TSV, '{out}')",
  "CREATE TEMPORARY TABLE u (a UInt8) ENGINE = File(TSV, '{out}')",
  "CREATE TABLE facts.u ENGINE = Log AS SELECT * FROM file('{out}')",
  "CREATE VIEW facts.v AS SELECT * FROM file('{out}')",
  "CREATE DATABASE d ENGINE = Filesystem('{out}')",
  "CREATE DATABASE d ENGINE = Backup('facts', File('{saved}'))",
  "CREATE DATABASE d ENGINE = SQLite('{out}')",
  "CREATE DICTIONARY facts.d (a UInt64) PRIMARY KEY a SOURCE(FILE(path '{out}' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
  "CREATE FUNCTION f AS (x) -> file(x)",
  "CREATE NAMED COLLECTION n AS path = '{out}'",
  "ATTACH TABLE facts.u FROM '{out}' (a UInt8) ENGINE = MergeTree ORDER BY a",
  "ATTACH DATABASE d",
  "DETACH TABLE facts.t",
  "ALTER TABLE facts.t FREEZE WITH NAME '{out}'",
  "ALTER TABLE facts.t EXPORT PART 'all_1_1_0' TO TABLE FUNCTION file('{out}')",
  "ALTER TABLE facts.t FETCH PARTITION tuple() FROM '{out}'",
  "SYSTEM UNFREEZE WITH NAME '{out}'",
  "SYSTEM FLUSH LOGS",
  "SYSTEM RELOAD CONFIG",
  "SHOW CREATE DICTIONARY facts.d",
  "DESCRIBE file('{out}')",
  "EXISTS TABLE `{out}`",
  "SELECT * FROM `{out}`",
  'SELECT * FROM "default"."{out}"',
  "SELECT * FROM '{out}'",
  "SELECT * FROM fileCluster('c', '{out}', 'TSV')",
  "SELECT * FROM executable('cat {out}', 'TSV', 'a String')",
  "SELECT * FROM sqlite('{out}', 't')",
  "SET output_format_schema = '{out}'",
];

t.test("no setting, format or function of the engine makes a file", async (t) => {
  const port = await freePort();
  const user = { user: "bi", password: "s3cret", databases: ["facts"] };
  const under = await startEngine(t, { sqlPort: sqlListener(port, [user]) });
  const service = quietClient(t, under.endpoint);
  await service.command({ query: "CREATE DATABASE facts" });
  const list = async (query: string) => (await engineResponseText(service, query)).split("\n");
  const settings = await list("SELECT name FROM system.settings ORDER BY name");
  const formats = await list("SELECT name FROM system.formats ORDER BY name");
  const functions = await list("SELECT name FROM system.functions ORDER BY name");
  const tableFunctions = await list("SELECT name FROM system.table_functions ORDER BY name");
  t.ok(
    settings.length > 1000 && formats.length > 80 && functions.length > 1500 && tableFunctions.length > 50,
  );

  // Beside the engine's folder there are a file, a link to it, and an unused name.
  const outside = t.testdir();
  await writeFile(join(outside, "there"), "untouched");
  await symlink(join(outside, "there"), join(outside, "link"));
  await mkdir(join(outside, "folder"));
  const targets = ["there", "link", "free", "folder/free"].map((name) => join(outside, name));
  const target = (index: number) => targets[index % targets.length] ?? "";
  const working = (await readdir(".")).sort();
  const untouched = async () => {
    t.same((await readdir(outside, { recursive: true })).sort(), ["folder", "link", "there"]);
    t.equal(await readFile(join(outside, "there"), "utf8"), "untouched");
    t.same((await readdir(".")).sort(), working);
  };

  const endpoint = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const requested = async (path: string, body: string) => {
    const { status, headers } = await sendRequest(endpoint, path, { body });
    return { ok: status === 200, code: headers["x-clickhouse-exception-code"] };
  };
  async function each<Item>(items: readonly Item[], run: (item: Item, index: number) => Promise<void>) {
    for (let start = 0; start < items.length; start += AT_ONCE)
      await Promise.all(items.slice(start, start + AT_ONCE).map((item, index) => run(item, start + index)));
  }

  await t.test(
    "a setting that is not on the list is refused by its name, in the URL and in the statement",
    async (t) => {
      const admitted = new Set([...ADMITTED_SETTINGS, ...LOWERABLE_SETTINGS, "additional_table_filters"]);
      t.same(
        [...ADMITTED_SETTINGS].filter((name) => !settings.includes(name)),
        [],
        "admitted names are settings",
      );
      const responses = new Map<string, unknown>();
      await each(
        settings.filter((name) => !admitted.has(name)),
        async (name, index) => {
          const path = `/?${name}=${encodeURIComponent(target(index))}`;
          responses.set(name, (await requested(path, "SELECT 1 AS a FORMAT Protobuf")).code);
        },
      );
      t.same(
        [...responses]
          .filter(([, code]) => code !== "164")
          .map(([name]) => name)
          .sort(), // the responses come in any order
        [...PROTOCOL_PARAMETERS].filter((name) => settings.includes(name)).sort(),
        "all are refused except the protocol's own, which never reach the engine",
      );
      await each(settings, async (name, index) => {
        const { code } = await requested(
          "/",
          `SELECT 1 AS a FORMAT TSV SETTINGS ${name} = '${target(index)}'`,
        );
        if (!admitted.has(name) && code !== "164") t.fail(`${name}: ${code}`);
      });
      await untouched();
    },
  );

  await t.test("an allowed setting with a path as its value makes no file in any format", async (t) => {
    const named = [...ADMITTED_SETTINGS].map((name, index) => [name, target(index)] as const);
    await each([...formats, ...WITH_SCHEMA], async (format, index) => {
      const { ok } = await requested("/", `SELECT 1 AS a FORMAT ${format}`);
      if (ok !== ADMITTED_FORMATS.includes(format)) t.fail(format);
      const schema = `/?output_format_schema=${encodeURIComponent(target(index))}&default_format=${format}`;
      t.equal((await requested(schema, "SELECT 1 AS a")).code, "164");
    });
    await each(named, async ([name, path], index) => {
      const format = ADMITTED_FORMATS[index % ADMITTED_FORMATS.length];
      await requested(`/?${name}=${encodeURIComponent(path)}&default_format=${format}`, "SELECT 1 AS a");
    });
    await untouched();
  });

  await t.test("functions and table functions that are not on the list are refused", async (t) => {
    const dictionaries = /^(dict(Get|Has|IsIn)|region)/;
    const known = new Set(functions.map((name) => name.toLowerCase()));
    t.same(
      functions.filter((name) => isRefusedFunction(name, known) && !dictionaries.test(name)).sort(),
      [...REFUSED_FUNCTIONS].sort(),
    );
    const refused = functions.filter((name) => isRefusedFunction(name, known));
    await each(refused, async (name) => {
      for (const call of [`${name}('${target(0)}')`, `arrayMap(${name}, ['${target(0)}'])`])
        if ((await requested("/", `SELECT ${call}`)).code !== "164") t.fail(call);
    });
    t.same(tableFunctions.filter(isAdmittedTableFunction), [
      "generateSeries",
      "generate_series",
      "numbers",
      "numbers_mt",
      "values",
      "view",
      "zeros",
      "zeros_mt",
    ]);
    await each(
      tableFunctions.filter((name) => !isAdmittedTableFunction(name)),
      async (name) => {
        for (const call of [`FROM ${name}('${target(2)}')`, `WHERE 1 IN ${name}('${target(2)}')`]) {
          const { ok, code } = await requested("/", `SELECT 1 ${call}`);
          // The engine also has an admitted function of that name, and refuses the table function to the role.
          if (ok || (name !== "format" && !["164", "62"].includes(String(code)))) t.fail(call);
        }
      },
    );
    await untouched();
  });

  await t.test(
    "no statement that accesses files is accepted, though the engine could write anywhere",
    async (t) => {
      await service.command({ query: "CREATE TABLE facts.t (a UInt8) ENGINE = MergeTree ORDER BY a" });
      await service.command({ query: "INSERT INTO facts.t VALUES (42)" });
      const saved = join(await mkdtemp(join(tmpdir(), "chargehouse-saved-")), "backup");
      t.teardown(() => rm(dirname(saved), { recursive: true, force: true }));
      await service.command({ query: `BACKUP DATABASE facts TO File('${saved}')` });
      const held = await readdir(dirname(saved), { recursive: true });
      t.ok(held.length > 1, "the service's own connection may");
      const tables = "SELECT database, name FROM system.tables WHERE database NOT IN ('system') ORDER BY ALL";
      const before = await engineResponseText(service, tables);
      const { length } = FILE_STATEMENTS;
      t.ok(length > 40, `${length} statements`);
      for (const [index, statement] of FILE_STATEMENTS.entries()) {
        const sql = statement.replaceAll("{out}", target(index)).replaceAll("{saved}", saved);
        for (const path of ["/", "/?database=facts", "/?database=default"]) {
          const { ok, code } = await requested(path, sql);
          if (ok || !["164", "62", "60", "81"].includes(String(code))) t.fail(`${code} ${path}: ${sql}`);
        }
      }
      await untouched();
      t.strictSame(await readdir(dirname(saved), { recursive: true }), held);
      t.equal(await engineResponseText(service, tables), before);
      t.equal(await engineResponseText(service, "SELECT * FROM facts.t"), "42");
    },
  );
});
