/**
 * A lock that all processes on one Postgres respect, held by a connection: it is released when its holder dies, however it dies.
 * It also guards work on other stores, such as ClickHouse migrations, which have no locks of their own.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";

export interface AdvisoryLockOptions {
  logger: Logger;
  signal?: AbortSignal | undefined;
}

/** Milliseconds between two attempts on a lock that another holds. */
const RETRY_MS = 200;

/** The key of a lock that is known by a name: the first 64 bits of its SHA-256, as Postgres' signed integer. */
export function lockKey(name: string): bigint {
  return createHash("sha256").update(name).digest().readBigInt64BE(0);
}

/**
 * Waits for the lock (as long as `signal` allows), runs `work` with the connection that holds it, and gives it up.
 * The connection has no statement timeout, and is closed in the end instead of going back to the pool with it.
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
  const answer = await holder.query<{ locked: boolean }>(
    "SELECT pg_try_advisory_lock($1::bigint) AS locked",
    [key.toString()],
  );
  return answer.rows[0]?.locked === true;
}
