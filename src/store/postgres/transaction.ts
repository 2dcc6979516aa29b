/** One transaction on one connection of the pool. */
import type pg from "pg";
import { cancellable, connectUntil } from "./stoppable.js";

/** Somebody who may give up waiting for a change, and who has to know whether it was made. */
export interface Interruption {
  /** Aborts when it is not wanted any more: what runs is cancelled and undone. */
  readonly signal: AbortSignal;
  /** Called right before the change becomes lasting, which nothing stops from then on. Throws when it is too late for it. */
  readonly beforeCommit: () => void;
  /** Writes into the transaction of the change who makes it, and what more is known of it. */
  readonly record?: (on: pg.PoolClient, more?: Readonly<Record<string, unknown>>) => Promise<void>;
}

/**
 * Runs `work` between BEGIN and COMMIT, and ROLLBACK when it throws; its error is passed on. A connection that cannot
 * even roll back is closed, so that no other borrower gets it in the middle of a transaction.
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
