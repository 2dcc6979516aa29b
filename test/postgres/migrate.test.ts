import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runner } from "node-pg-migrate";
import type pg from "pg";
import t, { type Test } from "tap";
import { projectRoot } from "../../src/common/project.js";
import { migratePostgres, postgresMigrationStatus } from "../../src/postgres/migrate.js";
import { migrationFolder } from "../common/migrate/migration-folder.js";
import { logger, temporaryDatabase, temporaryPool } from "../embedded-postgres/temporary.js";
import { holds } from "../holds.js";

const ONE =
  "-- Up Migration\nCREATE TABLE one (n int);\nCOMMENT ON TABLE one IS 'has {braces}; and a semicolon';\n";
const TWO = "CREATE TABLE two (n int);\nINSERT INTO one VALUES (1);\n";

const server = temporaryPool(t);
const freshDatabase = async (t: Test) => temporaryDatabase(t, await server);

const states = async (pool: pg.Pool, dir: string) =>
  (await postgresMigrationStatus(pool, dir)).map((entry) => `${entry.revision} ${entry.state}`);

t.test("a fresh database gets all revisions, then nothing, then what was added", async (t) => {
  const pool = await freshDatabase(t);
  const dir = migrationFolder(t, { "0001_one.sql": ONE, "README.md": "not SQL" });
  t.strictSame(await states(pool, dir), ["0001 pending"]);
  const begun = Date.now();
  holds(t, await migratePostgres(pool, { dir, logger }), { store: "postgres", applied: ["0001_one"] });
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, []);
  writeFileSync(join(dir, "0002_two.sql"), TWO);
  t.strictSame(await states(pool, dir), ["0001 applied", "0002 pending"]);
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, ["0002_two"]);
  t.strictSame((await pool.query("SELECT n FROM one")).rows, [{ n: 1 }]);

  const [first] = await postgresMigrationStatus(pool, dir);
  holds(t, first, { store: "postgres", revision: "0001", name: "one", state: "applied" });
  const applied = Date.parse(first?.applied_at ?? "");
  t.ok(begun <= applied && applied <= Date.now(), "applied_at is the time of the migration");
  const ledger = await pool.query("SELECT name FROM schema_migrations ORDER BY id");
  t.strictSame(
    ledger.rows,
    [{ name: "0001_one" }, { name: "0002_two" }],
    "the ledger is that of node-pg-migrate",
  );
});

t.test("a revision that fails leaves nothing of itself, and runs again when it is repaired", async (t) => {
  const pool = await freshDatabase(t);
  const dir = migrationFolder(t, { "0001_one.sql": ONE, "0002_two.sql": `${TWO} SELECT 1 / 0;` });
  await t.rejects(migratePostgres(pool, { dir, logger }), {
    code: "migration_failed",
    message: "postgres: revision 0002_two failed: division by zero",
  });
  t.strictSame(await states(pool, dir), ["0001 applied", "0002 pending"]);
  t.strictSame((await pool.query("SELECT to_regclass('two') AS two")).rows, [{ two: null }]);
  writeFileSync(join(dir, "0002_two.sql"), TWO);
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, ["0002_two"]);
});

t.test("a process that dies in the middle of a revision", async (t) => {
  const pool = await freshDatabase(t);
  const dir = migrationFolder(t, { "0001_one.sql": `${ONE} SELECT pg_terminate_backend(pg_backend_pid());` });
  await t.rejects(migratePostgres(pool, { dir, logger }), { code: "migration_failed" });
  t.strictSame(await states(pool, dir), ["0001 pending"]);
  writeFileSync(join(dir, "0001_one.sql"), ONE);
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, ["0001_one"]);
});

t.test("schema and code that do not fit are refused, and nothing is touched", async (t) => {
  const cases: [string, (dir: string) => void, RegExp][] = [
    [
      "changed",
      (dir) => writeFileSync(join(dir, "0001_one.sql"), `${ONE}\n`),
      /^postgres: .*0001_one was applied and has been changed/,
    ],
    [
      "missing",
      (dir) => rmSync(join(dir, "0001_one.sql")),
      /^postgres: .*0001_one was applied, but .* does not have it\.$/,
    ],
    [
      "newer",
      (dir) => rmSync(join(dir, "0002_two.sql")),
      /^postgres: the schema is newer .* 0002_two, .* 0001_one\.$/,
    ],
  ];
  for (const [name, change, message] of cases) {
    const pool = await freshDatabase(t);
    const dir = migrationFolder(t, { "0001_one.sql": ONE, "0002_two.sql": TWO });
    await migratePostgres(pool, { dir, logger });
    change(dir);
    if (name !== "newer") writeFileSync(join(dir, "0003_three.sql"), "CREATE TABLE three (n int)");
    await t.rejects(migratePostgres(pool, { dir, logger }), { code: "migration_refused", message });
    t.strictSame((await pool.query("SELECT to_regclass('three') AS three")).rows, [{ three: null }], name);
  }
});

t.test("two at once: each revision runs once", async (t) => {
  const pool = await freshDatabase(t);
  const dir = migrationFolder(t, { "0001_one.sql": `${ONE} SELECT pg_sleep(0.2);`, "0002_two.sql": TWO });
  const reports = await Promise.all([1, 2, 3].map(() => migratePostgres(pool, { dir, logger })));
  t.strictSame(reports.flatMap((report) => report.applied).sort(), ["0001_one", "0002_two"]);
  t.strictSame((await pool.query("SELECT count(*) AS n FROM one")).rows, [{ n: 1 }]);
});

t.test("a database that the command of node-pg-migrate brought up is taken as it is", async (t) => {
  const pool = await freshDatabase(t);
  const dir = migrationFolder(t, { "0001_one.sql": ONE });
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const dbClient = await pool.connect();
  await runner({ dbClient, dir, direction: "up", migrationsTable: "schema_migrations", logger: quiet });
  dbClient.release();
  t.strictSame(await states(pool, dir), ["0001 applied"]);
  writeFileSync(join(dir, "0002_two.sql"), TWO);
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, ["0002_two"]);
});

t.test("the project's own migrations", async (t) => {
  const pool = await freshDatabase(t);
  const dir = join(projectRoot(), "migrations/postgres");
  const { applied } = await migratePostgres(pool, { dir, logger });
  t.ok(applied.length > 0);
  t.strictSame((await migratePostgres(pool, { dir, logger })).applied, []);
});
