/**
 * A lock for all processes on one Postgres. A connection holds it, so it is released when its holder dies in any way.
 * It also guards work on other stores that have no locks of their own, such as ClickHouse migrations.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";

export interface AdvisoryLockOptions {
  logger: Logger;
  signal?: AbortSignal | undefined;
}

/** Milliseconds between attempts while another process holds the lock. */
const RETRY_MS = 200;

/** The key of a named lock: the first 64 bits of the name's SHA-256, as a signed integer. */
export function lockKey(name: string): bigint {
  return createHash("sha256").update(name).digest().readBigInt64BE(0);
}

/**
 * Waits for the lock until `signal` aborts, runs `work` with the connection that holds it, and releases it. The
 * connection has no statement timeout. It is closed afterwards, so that it does not return to the pool with the lock.
 */
export async function withAdvisoryLock<T>(
  pool: pg.Pool,
  key: bigint,
  { logger, signal }: AdvisoryLockOptions,
  work: (holder: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const holder = await pool.connect();
  try {
    await holder.query("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0");
    for (let waited = false; !(await tryLock(holder, key)); waited = true) {
      if (!waited) logger.info("waiting for another process to release the migration lock");
      await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
    }
    return await work(holder);
  } finally {
    holder.release(true);
  }
}

async function tryLock(holder: pg.PoolClient, key: bigint): Promise<boolean> {
  const result = await holder.query<{ locked: boolean }>(
    "SELECT pg_try_advisory_lock($1::bigint) AS locked",
    [key.toString()],
  );
  return result.rows[0]?.locked === true;
}
