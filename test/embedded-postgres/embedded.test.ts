import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start.js";
import { openPostgres } from "../../src/postgres/client.js";
import { processStart } from "../../src/stores/data-dir-owner.js";
import { until } from "../until.js";
import { logger, postgresFolder, startTestPostgres } from "./temporary.js";

async function query(connection: pg.PoolConfig, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

t.test("the first start creates a cluster, and the next one finds its rows", async (t) => {
  const dataDir = postgresFolder(t);
  const first = await startTestPostgres(t, { dataDir });
  await query(first.connection, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
  t.equal(statSync(join(dataDir, "postgres.password")).mode & 0o777, 0o600);
  await first.stop();
  await first.stop();
  await t.rejects(
    query(first.connection, "SELECT 1"),
    /ECONNREFUSED|ENOENT/,
    "a stopped server refuses connections",
  );

  const second = await startTestPostgres(t, { dataDir });
  t.strictSame(await query(second.connection, "SELECT count(*)::int AS n FROM kept"), [{ n: 1000 }]);
});

t.test("the server is private, durable and modest", async (t) => {
  process.env.CHARGEHOUSE_TEST_SECRET = "not for the server";
  const postgres = await startTestPostgres(t);
  const settings = await query(
    postgres.connection,
    `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) AS settings FROM pg_settings
     WHERE name IN ('listen_addresses', 'fsync', 'full_page_writes', 'synchronous_commit', 'max_connections', 'data_checksums')`,
  );
  t.strictSame(settings, [
    {
      settings:
        "data_checksums=on fsync=on full_page_writes=on listen_addresses= max_connections=60 synchronous_commit=on",
    },
  ]);
  await t.rejects(query({ ...postgres.connection, password: "wrong" }, "SELECT 1"), { code: "28P01" });
  if (process.platform === "linux") {
    t.not(statSync(`/proc/${postgres.pid}`).uid, 0, "the server never runs as root");
    t.notMatch(readFileSync(`/proc/${postgres.pid}/environ`, "utf8"), /CHARGEHOUSE_TEST_SECRET/);
  }
});

t.test("text sorts by code point, and letters of all languages have two cases", async (t) => {
  const { connection } = await startTestPostgres(t);
  const rows = await query(
    connection,
    "SELECT x, lower(x) AS lower FROM (VALUES ('b'), ('É'), ('B'), ('a')) v(x) ORDER BY x",
  );
  t.strictSame(
    rows.map((row) => row.x),
    ["B", "a", "b", "É"],
  );
  t.equal(rows[3]?.lower, "é");
});

t.test("a killed server restarts with all acknowledged rows, and the pool continues", async (t) => {
  const postgres = await startTestPostgres(t);
  const pool = openPostgres(postgres.connection, { logger });
  t.teardown(() => pool.end());
  await pool.query("CREATE TABLE acked (n int)");
  const firstPid = postgres.pid;
  for (let n = 1; n <= 50; n++) await pool.query("INSERT INTO acked VALUES ($1)", [n]);
  const lent = await pool.connect(); // The connection breaks while it is in use and while it is idle. Neither may end the process.
  process.kill(firstPid, "SIGKILL");
  await until("a new postmaster", () => postgres.pid !== firstPid);
  await until("a response", () =>
    pool.query("SELECT 1").then(
      () => true,
      () => false,
    ),
  );
  lent.release(true);
  t.strictSame((await pool.query("SELECT count(*) AS n FROM acked")).rows, [{ n: 50 }]);
});

t.test("stopping during a restart leaves no server behind", async (t) => {
  const postgres = await startTestPostgres(t);
  process.kill(postgres.pid, "SIGKILL");
  await postgres.stop();
  t.equal(processStart(postgres.pid), undefined);
});

t.test("the error of a failed start contains the server's output", async (t) => {
  const dataDir = postgresFolder(t);
  await (await startTestPostgres(t, { dataDir })).stop();
  writeFileSync(join(dataDir, "postgres/PG_VERSION"), "12\n");
  await t.rejects(startEmbeddedPostgres({ dataDir, logger }), {
    message: /ended at its start[\s\S]*initialized by PostgreSQL version 12/,
  });
});

t.test("a missing password file is reported", async (t) => {
  const dataDir = postgresFolder(t);
  await (await startTestPostgres(t, { dataDir })).stop();
  rmSync(join(dataDir, "postgres.password"));
  await t.rejects(startEmbeddedPostgres({ dataDir, logger }), { message: /password .* is missing/ });
});

t.test("an interrupted first start is repeated", async (t) => {
  const dataDir = postgresFolder(t);
  mkdirSync(join(dataDir, "postgres.unfinished/base"), { recursive: true });
  writeFileSync(join(dataDir, "postgres.password"), "of a cluster that was never finished");
  const { connection } = await startTestPostgres(t, { dataDir });
  t.strictSame(await query(connection, "SELECT 1 AS one"), [{ one: 1 }]);
  t.notOk(existsSync(join(dataDir, "postgres.unfinished")));
});

t.test("a data directory too deep for a socket address works", async (t) => {
  const dataDir = join(
    postgresFolder(t),
    ...Array.from({ length: 6 }, () => randomBytes(10).toString("hex")),
  );
  mkdirSync(dataDir, { recursive: true });
  t.ok(`${dataDir}/postgres/.s.PGSQL.5432`.length > 107);
  const { connection } = await startTestPostgres(t, { dataDir });
  t.strictSame(await query(connection, "SELECT 1 AS one"), [{ one: 1 }]);
});

t.test("a data directory below folders that only we can enter works", async (t) => {
  const outer = postgresFolder(t);
  const dataDir = join(outer, "private/data");
  mkdirSync(dataDir, { recursive: true });
  for (const folder of [outer, join(outer, "private"), dataDir]) chmodSync(folder, 0o700);
  const { connection, pid } = await startTestPostgres(t, { dataDir });
  await query(connection, "CREATE TABLE kept AS SELECT generate_series(1, 100000) AS n");
  process.kill(pid, "SIGKILL"); // Recovery replays the log, also with paths that do not exist from the root.
  await until("recovery", () =>
    query(connection, "SELECT count(*)::int AS n FROM kept").then(
      (rows) => rows[0]?.n === 100_000,
      () => false,
    ),
  );
  await query(connection, "CHECKPOINT");
  t.pass("written, recovered, checkpointed");
});

t.test("a start can be cancelled", async (t) => {
  const signal = AbortSignal.abort(new Error("enough"));
  const dataDir = postgresFolder(t);
  await t.rejects(startEmbeddedPostgres({ dataDir, logger, signal }), { message: "enough" });
  t.notOk(existsSync(join(dataDir, "postgres/postmaster.pid")));
});
