/** One transaction on one connection of the pool. */
import type pg from "pg";
import { cancellable, connectUntil } from "./stoppable.js";

/** A caller that may stop waiting for a change, and has to know whether the change was made. */
export interface Interruption {
  /**
   * Aborts when the caller no longer wants the change. The current statement is cancelled and the transaction rolled
   * back.
   */
  readonly signal: AbortSignal;
  /** Called right before COMMIT, which cannot be cancelled. Throws if it is too late for the change. */
  readonly beforeCommit: () => void;
  /** Records in the transaction of the change who makes it, and further details. */
  readonly record?: (on: pg.PoolClient, more?: Readonly<Record<string, unknown>>) => Promise<void>;
}

/**
 * Runs `work` between BEGIN and COMMIT, or ROLLBACK if it throws, and passes its error on. A connection whose rollback
 * fails is closed, so that no other borrower gets it in the middle of a transaction.
 */
export async function withTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  stop?: Interruption,
): Promise<T> {
  const client = stop === undefined ? await pool.connect() : await connectUntil(pool, stop.signal);
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const result =
      stop === undefined
        ? await work(client)
        : await cancellable({ pool, client, signal: stop.signal }, () => work(client));
    stop?.beforeCommit();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((rollback: Error) => {
      broken = rollback;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
