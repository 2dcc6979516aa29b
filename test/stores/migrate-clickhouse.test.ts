import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClickHouseClient, createClient } from "@clickhouse/client";
import t from "tap";
import { socketAgent } from "../../src/clickhouse/client.js";
import { projectRoot } from "../../src/common/project.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { clickHouseMigrationStatus, migrateClickHouse } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolder } from "../common/migrate/migration-folder.js";
import { logger, postgresFolder, temporaryPool } from "../embedded-postgres/temporary.js";
import { holds } from "../holds.js";
import { until } from "../until.js";

const ONE = `
-- Facts; see the documentation.
CREATE TABLE IF NOT EXISTS one (n UInt32 COMMENT 'a number; nothing more') ENGINE = MergeTree ORDER BY n;
`;
const TWO = `
CREATE TABLE IF NOT EXISTS two (n UInt32) ENGINE = MergeTree ORDER BY n;
CREATE OR REPLACE VIEW both_tables AS SELECT n FROM one UNION ALL SELECT n FROM two;
`;

const embedded = createEmbeddedClickHouse({ dataDir: postgresFolder(t), logger });
t.teardown(() => embedded.stop());
const endpoint = embedded.endpoint();
const pool = temporaryPool(t);

async function client(t: Parameters<typeof temporaryPool>[0], database?: string): Promise<ClickHouseClient> {
  const { url, socketPath, username, password } = await endpoint;
  const made = createClient({
    url,
    username,
    password,
    ...(socketPath !== undefined && { http_agent: socketAgent(socketPath, 4) }),
    ...(database !== undefined && { database }),
  });
  t.teardown(() => made.close());
  return made;
}

const rows = async <Row>(clickhouse: ClickHouseClient, query: string) =>
  (await clickhouse.query({ query, format: "JSONEachRow" })).json<Row>();

const tables = async (clickhouse: ClickHouseClient, database: string) =>
  (
    await rows<{ name: string }>(
      clickhouse,
      `SELECT name FROM system.tables WHERE database = '${database}' AND name != 'schema_migrations' ORDER BY name`,
    )
  ).map((row) => row.name);

const states = async (clickhouse: ClickHouseClient, dir: string, database: string) =>
  (await clickHouseMigrationStatus(clickhouse, { dir, database })).map(
    (entry) => `${entry.revision} ${entry.state}`,
  );

t.test(
  "a database that is missing is made and gets all revisions, then nothing, then what was added",
  async (t) => {
    const clickhouse = await client(t);
    const database = "fresh";
    const dir = migrationFolder(t, { "0001_one.sql": ONE });
    const options = { dir, database, postgres: await pool, logger };
    t.strictSame(await states(clickhouse, dir, database), ["0001 pending"]);
    t.strictSame(
      await rows(clickhouse, "SELECT name FROM system.databases WHERE name = 'fresh'"),
      [],
      "a check creates nothing",
    );

    const begun = Math.floor(Date.now() / 1000) * 1000;
    holds(t, await migrateClickHouse(clickhouse, options), {
      store: "clickhouse/fresh",
      applied: ["0001_one"],
    });
    t.strictSame((await migrateClickHouse(clickhouse, options)).applied, []);
    writeFileSync(join(dir, "0002_two.sql"), TWO);
    t.strictSame((await migrateClickHouse(clickhouse, options)).applied, ["0002_two"]);
    t.strictSame(await states(clickhouse, dir, database), ["0001 applied", "0002 applied"]);
    t.strictSame(await tables(clickhouse, database), ["both_tables", "one", "two"]);
    t.strictSame(
      await tables(clickhouse, "default"),
      [],
      "unqualified names belong to the tenant's database",
    );

    const [first] = await clickHouseMigrationStatus(clickhouse, { dir, database });
    holds(t, first, { store: "clickhouse/fresh", revision: "0001", name: "one", state: "applied" });
    const applied = Date.parse(first?.applied_at ?? "");
    t.ok(begun <= applied && applied <= Date.now(), "applied_at is the time of the migration");
  },
);

t.test("a client of the tenant's own database does as well, also before that database exists", async (t) => {
  const clickhouse = await client(t, "own");
  const dir = migrationFolder(t, { "0001_one.sql": ONE });
  const { applied } = await migrateClickHouse(clickhouse, {
    dir,
    database: "own",
    postgres: await pool,
    logger,
  });
  t.strictSame(applied, ["0001_one"]);
  t.strictSame(await rows(clickhouse, "SELECT count() AS n FROM one"), [{ n: "0" }]);
});

t.test("tenants have ledgers of their own", async (t) => {
  const clickhouse = await client(t);
  const dir = migrationFolder(t, { "0001_one.sql": ONE });
  for (const database of ["tenant_a", "tenant-b"]) {
    const { applied } = await migrateClickHouse(clickhouse, { dir, database, postgres: await pool, logger });
    t.strictSame(applied, ["0001_one"], database);
  }
});

t.test("a revision that fails half-way is repaired by running it again", async (t) => {
  const clickhouse = await client(t);
  const database = "halfway";
  const dir = migrationFolder(t, {
    "0001_one.sql": ONE,
    "0002_two.sql": `${TWO} SELECT throwIf(1, 'as the test wants it');`,
  });
  const options = { dir, database, postgres: await pool, logger };
  await t.rejects(migrateClickHouse(clickhouse, options), {
    code: "migration_failed",
    message: /^clickhouse\/halfway: revision 0002_two failed: .*as the test wants it/s,
  });
  t.strictSame(await states(clickhouse, dir, database), ["0001 applied", "0002 pending"]);
  t.strictSame(
    await tables(clickhouse, database),
    ["both_tables", "one", "two"],
    "the first statements of the revision have run",
  );
  writeFileSync(join(dir, "0002_two.sql"), TWO);
  t.strictSame((await migrateClickHouse(clickhouse, options)).applied, ["0002_two"]);
});

t.test("schema and code that do not fit are refused, and nothing is touched", async (t) => {
  const clickhouse = await client(t);
  const cases: [string, (dir: string) => void, RegExp][] = [
    [
      "changed",
      (dir) => writeFileSync(join(dir, "0001_one.sql"), `${ONE}\n`),
      /^clickhouse\/changed: .*0001_one was applied and has been changed/,
    ],
    [
      "missing",
      (dir) => rmSync(join(dir, "0001_one.sql")),
      /^clickhouse\/missing: .*0001_one was applied, but .* does not have it\.$/,
    ],
    [
      "newer",
      (dir) => rmSync(join(dir, "0002_two.sql")),
      /^clickhouse\/newer: the schema is newer .* 0002_two, .* 0001_one\.$/,
    ],
  ];
  for (const [database, change, message] of cases) {
    const dir = migrationFolder(t, { "0001_one.sql": ONE, "0002_two.sql": TWO });
    const options = { dir, database, postgres: await pool, logger };
    await migrateClickHouse(clickhouse, options);
    change(dir);
    if (database !== "newer") writeFileSync(join(dir, "0003_three.sql"), ONE.replace("one", "three"));
    await t.rejects(migrateClickHouse(clickhouse, options), { code: "migration_refused", message });
    t.strictSame(await tables(clickhouse, database), ["both_tables", "one", "two"]);
  }
});

t.test("two at once: each revision runs once", async (t) => {
  const clickhouse = await client(t);
  const dir = migrationFolder(t, { "0001_one.sql": `${ONE} INSERT INTO one VALUES (1); SELECT sleep(0.2);` });
  const options = { dir, database: "at_once", postgres: await pool, logger };
  const reports = await Promise.all([1, 2, 3].map(() => migrateClickHouse(clickhouse, options)));
  t.strictSame(
    reports.flatMap((report) => report.applied),
    ["0001_one"],
  );
  t.strictSame(await rows(clickhouse, "SELECT count() AS n FROM at_once.one"), [{ n: "1" }]);
});

t.test(
  "without the lock nothing goes on: a connection lost in the middle stops before the next revision",
  async (t) => {
    const clickhouse = await client(t);
    const lock = await pool;
    const dir = migrationFolder(t, { "0001_one.sql": `${ONE} SELECT sleep(2);`, "0002_two.sql": TWO });
    const migrating = migrateClickHouse(clickhouse, { dir, database: "lost_lock", postgres: lock, logger });
    const rejected = t.rejects(migrating, /connection error|terminat/);
    await until("the first table", async () => (await tables(clickhouse, "lost_lock")).includes("one"));
    await lock.query(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted",
    );
    await rejected;
    t.notOk((await tables(clickhouse, "lost_lock")).includes("two"));
  },
);

t.test("the project's own migrations", async (t) => {
  const clickhouse = await client(t);
  const dir = join(projectRoot(), "migrations/clickhouse");
  const options = { dir, database: "project", postgres: await pool, logger };
  const { applied } = await migrateClickHouse(clickhouse, options);
  t.ok(applied.length > 0);
  t.strictSame((await migrateClickHouse(clickhouse, options)).applied, []);
  t.ok((await tables(clickhouse, "project")).includes("chargebacks"));

  // Simulates a crash just before the ledger was written, so each file runs again on its own results.
  await clickhouse.command({ query: "DROP TABLE project.schema_migrations SYNC" });
  t.strictSame(
    (await migrateClickHouse(clickhouse, options)).applied,
    applied,
    "every statement can run again",
  );
});

t.test("stored tags, paths and columns of bills survive the change of their types", async (t) => {
  const clickhouse = await client(t);
  const folder = join(projectRoot(), "migrations/clickhouse");
  const before = Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name < "0004")
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  const options = { database: "older", postgres: await pool, logger };
  await migrateClickHouse(clickhouse, { ...options, dir: migrationFolder(t, before) });
  for (const query of [
    `INSERT INTO older.chargebacks (timestamp, resource_id, identity_id, line_tags, passed_path) VALUES
      ('2026-01-01', 'a', 'web', map('env', 'prod', 'Team', 'ünï'), [(1, 'idle', 2, 'even_split', 'shared_by_design', 'cpu'), (3, 'web', 0, 'terminal', '', '')]),
      ('2026-01-02', 'b', 'data', map(), [])`,
    "INSERT INTO older.billing (timestamp, resource_id, line_tags) VALUES ('2026-01-01', 'a', map('env', ''))",
    "INSERT INTO older.focus_lines (Tags, custom_columns) VALUES (map('k', 'v'), map('x_A', '1'))",
  ])
    await clickhouse.command({ query });
  const read = async () => ({
    rows: await rows(clickhouse, "SELECT line_tags, passed_path FROM older.chargebacks ORDER BY day"),
    view: await rows(clickhouse, "SELECT line_tags FROM older.chargeback_details ORDER BY date"),
    bill: await rows(clickhouse, "SELECT line_tags FROM older.published_billing"),
    focus: await rows(clickhouse, "SELECT Tags, custom_columns FROM older.focus_lines"),
  });
  const stored = await read();
  t.strictSame(stored.rows, [
    {
      line_tags: { env: "prod", Team: "ünï" },
      passed_path: [
        {
          step: 1,
          identity_id: "idle",
          tier: 2,
          allocation_method: "even_split",
          allocation_detail: "shared_by_design",
          metric: "cpu",
        },
        {
          step: 3,
          identity_id: "web",
          tier: 0,
          allocation_method: "terminal",
          allocation_detail: "",
          metric: "",
        },
      ],
    },
    { line_tags: {}, passed_path: [] },
  ]);
  const { applied } = await migrateClickHouse(clickhouse, { ...options, dir: folder });
  t.ok(applied.length > 0);
  t.strictSame(await read(), stored);
  t.strictSame(
    await rows(
      clickhouse,
      `SELECT table, name FROM system.columns
       WHERE database = 'older' AND match(type, '(Map|Array).*LowCardinality') ORDER BY table, name`,
    ),
    [{ table: "allocation_rules", name: "sources" }],
    "text inside maps and arrays is plain, except in the few rows of the rules",
  );
});

t.test("a statement waits for what the one before does in the background", async (t) => {
  const clickhouse = await client(t);
  const dir = migrationFolder(t, {
    "0001_slow.sql": `
CREATE TABLE IF NOT EXISTS slow (n UInt32, m UInt32) ENGINE = MergeTree ORDER BY n;
CREATE TABLE IF NOT EXISTS seen (under_way UInt64, changed UInt64) ENGINE = MergeTree ORDER BY under_way;
INSERT INTO slow SELECT number, 0 FROM numbers(20);
ALTER TABLE slow UPDATE m = 1 + sleepEachRow(0.05) WHERE 1;
INSERT INTO seen SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done),
  (SELECT sum(m) FROM slow);
ALTER TABLE slow UPDATE m = 2 + sleepEachRow(0.05) WHERE 1;
`,
  });
  await migrateClickHouse(clickhouse, { dir, database: "mutated", postgres: await pool, logger });
  t.strictSame(await rows(clickhouse, "SELECT under_way, changed FROM mutated.seen"), [
    { under_way: "0", changed: "20" },
  ]);
  t.strictSame(
    await rows(clickhouse, "SELECT sum(m) AS changed FROM mutated.slow"),
    [{ changed: "40" }],
    "a revision is recorded after all of its background work has ended",
  );
});

t.test("a change of stored rows that fails ends the migration with its reason", async (t) => {
  const clickhouse = await client(t);
  const dir = migrationFolder(t, {
    "0001_broken.sql": `
CREATE TABLE IF NOT EXISTS broken (n UInt32) ENGINE = MergeTree ORDER BY tuple();
INSERT INTO broken SELECT number FROM numbers(20);
ALTER TABLE broken UPDATE n = throwIf(n = 7, 'seven is not taken') WHERE 1;
`,
  });
  await t.rejects(migrateClickHouse(clickhouse, { dir, database: "broken", postgres: await pool, logger }), {
    name: "MigrationFailed",
    message: /revision 0001_broken failed: .*seven is not taken/,
  });
  t.strictSame(await states(clickhouse, dir, "broken"), ["0001 pending"]);
});
