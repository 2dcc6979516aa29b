import type pg from "pg";
import t from "tap";
import { isLostConnection, isLostPostgres } from "../../src/common/lost-connection.js";
import { lockKey, withAdvisoryLock } from "../../src/postgres/advisory-lock.js";
import { openPostgres, safeInteger } from "../../src/postgres/client.js";
import { withTransaction } from "../../src/postgres/transaction.js";
import { storeErrorText } from "../../src/stores/error-text.js";
import { logger, startTestPostgres, temporaryPool } from "../embedded-postgres/temporary.js";
import { holds } from "../holds.js";
import { until } from "../until.js";
import { poolOverTcp } from "./tcp-proxy.js";

t.test("values from Postgres are exact, or an error", async (t) => {
  const pool = await temporaryPool(t);
  const { rows } = await pool.query(
    `SELECT 9007199254740991::int8 AS int8, '{1,NULL,9007199254740991}'::int8[] AS int8s, 1.10::numeric AS numeric,
            '2026-03-29'::date AS date, '{2026-01-01,NULL}'::date[] AS dates, '{}'::date[] AS none,
            '2026-03-29T01:30:00.123Z'::timestamptz AS instant, '{"a": 1}'::jsonb AS json, NULL::int8 AS nothing`,
  );
  t.strictSame(rows, [
    {
      int8: 9007199254740991,
      int8s: [1, null, 9007199254740991],
      numeric: "1.10",
      date: "2026-03-29",
      dates: ["2026-01-01", null],
      none: [],
      instant: new Date("2026-03-29T01:30:00.123Z"),
      json: { a: 1 },
      nothing: null,
    },
  ]);
  await t.rejects(pool.query("SELECT 9007199254740992::int8"), RangeError);
  await t.rejects(pool.query("SELECT '{9007199254740992}'::int8[]"), RangeError);
  t.strictSame((await pool.query("SELECT 1 AS one")).rows, [{ one: 1 }], "the connection still works");
  t.equal(safeInteger("-9007199254740991"), -9007199254740991);
});

t.test("a statement is cancelled at its timeout", async (t) => {
  const { connection } = await startTestPostgres(t);
  const pool = openPostgres(connection, { logger, statementTimeoutMs: 50, applicationName: "a test" });
  t.teardown(() => pool.end());
  await t.rejects(pool.query("SELECT pg_sleep(10)"), { code: "57014" });
  t.strictSame((await pool.query("SELECT current_setting('application_name') AS name")).rows, [
    { name: "a test" },
  ]);
});

t.test("withTransaction commits, rolls back and closes broken connections", async (t) => {
  const pool = await temporaryPool(t);
  await pool.query("CREATE TABLE rows (n int PRIMARY KEY)");
  const count = async () => (await pool.query<{ n: number }>("SELECT count(*) AS n FROM rows")).rows[0]?.n;

  await t.test("a transaction commits the work and returns its result", async (t) => {
    const result = await withTransaction(pool, async (client) => {
      await client.query("INSERT INTO rows VALUES (1)");
      return "done";
    });
    t.equal(result, "done");
    t.equal(await count(), 1);
  });

  await t.test("a transaction rolls back if the work fails, and passes its error on", async (t) => {
    const failing = withTransaction(pool, async (client) => {
      await client.query("INSERT INTO rows VALUES (2)");
      await client.query("INSERT INTO rows VALUES (1)");
    });
    await t.rejects(failing, { code: "23505" });
    t.equal(await count(), 1);
  });

  await t.test("a connection that breaks during a transaction is closed", async (t) => {
    const backends = new Set<number>();
    const failing = withTransaction(pool, async (client) => {
      const pid = (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid ?? 0;
      backends.add(pid);
      await pool.query("SELECT pg_terminate_backend($1)", [pid]);
      await client.query("INSERT INTO rows VALUES (3)");
    });
    await t.rejects(failing, /terminat|EPIPE|ECONNRESET|not queryable/);
    const { rows } = await pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    t.notOk(backends.has(rows[0]?.pid ?? 0));
    t.equal(await count(), 1);
  });
});

t.test("errors of a Postgres server over TCP are known as Postgres's", async (t) => {
  const { pool, goDown, comeBack } = await poolOverTcp(t, await temporaryPool(t));
  const caught = async (statement: Promise<unknown>): Promise<Error> => {
    try {
      await statement;
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error("the statement succeeded");
  };

  const sleeping = caught(pool.query("SELECT pg_sleep(10)"));
  await until("the statement runs", async () => {
    const { rows } = await pool.query("SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(10)'");
    return rows.length === 1;
  });
  goDown();
  const reset = await sleeping;
  const refused = await caught(pool.query("SELECT 1"));
  const refusedTransaction = await caught(withTransaction(pool, async () => undefined));
  for (const [error, code] of [
    [reset, "ECONNRESET"],
    [refused, "ECONNREFUSED"],
    [refusedTransaction, "ECONNREFUSED"],
  ] as const) {
    t.equal("code" in error && error.code, code);
    t.equal(isLostPostgres(error), true);
    t.equal(storeErrorText(error), `Postgres went away: ${error.message}`);
  }

  const { port = 0 } = pool.options;
  const ofAnother = await caught(fetch(`http://127.0.0.1:${port}`));
  holds(t, ofAnother.cause, { code: "ECONNREFUSED" });
  t.equal(
    isLostPostgres(ofAnother.cause),
    false,
    "another client's error at the same port is not Postgres's",
  );

  await comeBack();
  t.strictSame((await pool.query("SELECT 1 AS one")).rows, [{ one: 1 }]);
  const failing = await caught(pool.query("SELECT 1 / 0"));
  t.equal(isLostConnection(failing), false, "an error of a statement is no lost connection");
});

t.test("a pool that was ended is no lost connection", async (t) => {
  const { connection } = await startTestPostgres(t);
  const pool = openPostgres(connection, { logger });
  await pool.end();
  await t.rejects(pool.query("SELECT 1"), { message: "Cannot use a pool after calling end on the pool" });
  const error = await pool.query("SELECT 1").catch((reason: unknown) => reason);
  t.equal(isLostConnection(error), false);
});

t.test("withAdvisoryLock guards work with a lock in Postgres", async (t) => {
  const pool = await temporaryPool(t);
  const key = lockKey("a test");

  await t.test("the key of a lock is a signed 64-bit integer that depends on its name", async (t) => {
    t.equal(lockKey("a test"), key);
    t.not(lockKey("another"), key);
    t.equal(BigInt.asIntN(64, key), key);
  });

  await t.test("an advisory lock has one holder at a time", async (t) => {
    let inside = 0;
    let most = 0;
    const work = async (holder: pg.PoolClient) => {
      most = Math.max(most, ++inside);
      await holder.query("SELECT pg_sleep(0.05)");
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => withAdvisoryLock(pool, key, { logger }, work)));
    t.equal(most, 1);
  });

  await t.test(
    "an advisory lock is released after a failure, and its wait ends with the signal",
    async (t) => {
      const failing = withAdvisoryLock(pool, key, { logger }, async () => {
        throw new Error("failed");
      });
      await t.rejects(failing, { message: "failed" });
      await withAdvisoryLock(pool, key, { logger }, async () => {
        const waiting = withAdvisoryLock(
          pool,
          key,
          { logger, signal: AbortSignal.timeout(50) },
          async () => "got it",
        );
        await t.rejects(waiting, { name: /AbortError|TimeoutError/ });
      });
      t.equal(await withAdvisoryLock(pool, key, { logger }, async () => "free"), "free");
    },
  );
});
