/** Statements on Postgres that end when a signal aborts. pg itself cannot cancel. */
import { setTimeout as delay } from "node:timers/promises";
import pg, { type Pool, type PoolClient } from "pg";
import { abortable } from "../common/abortable.js";

/** Runs one statement on a connection of the pool. Throws the signal's reason as soon as the signal aborts. */
export async function stoppable<T>(
  pool: Pool,
  signal: AbortSignal,
  run: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await connectUntil(pool, signal);
  const running = run(client);
  let cancelled: Promise<void> | undefined;
  try {
    const result = await abortable(running, signal, () => {
      cancelled = cancelStatement(pool, client);
    });
    client.release();
    return result;
  } catch (error) {
    // The connection may serve others only after the statement has ended and no cancellation is pending that could hit
    // the next one. A broken connection is closed.
    void Promise.allSettled([running, cancelled]).then(([ended]) =>
      client.release(ended.status === "rejected" && isConnectionLoss(ended.reason)),
    );
    throw error;
  }
}

/** Gets a connection of the pool. Throws the signal's reason if the signal aborts first. */
export async function connectUntil(pool: Pool, signal: AbortSignal): Promise<PoolClient> {
  signal.throwIfAborted();
  const connecting = pool.connect();
  return await abortable(connecting, signal, () => {
    // The connection may still arrive. Then it returns to the pool.
    connecting.then(
      (late) => late.release(),
      () => undefined,
    );
  });
}

/** `pg_cancel_backend` between statements has no effect, so repeat it at this interval. */
const CANCEL_INTERVAL_MS = 100;

/**
 * Runs several statements on one connection. If the signal aborts, cancels each of them and throws the signal's reason.
 */
export async function cancellable<T>(
  { pool, client, signal }: { pool: Pool; client: PoolClient; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  let working = true;
  let cancelling: Promise<void> | undefined;
  const cancelAll = async () => {
    while (working) {
      await cancelStatement(pool, client);
      await delay(CANCEL_INTERVAL_MS);
    }
  };
  const onAbort = () => {
    cancelling = cancelAll();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    working = false;
    signal.removeEventListener("abort", onAbort);
    await cancelling;
  }
}

/** True unless the error has a severity: server errors do, and leave the connection usable. */
function isConnectionLoss(reason: unknown): boolean {
  return !(reason instanceof Error && "severity" in reason);
}

/** Requests cancellation of the connection's statement, which then fails with an error of its own. Never rejects. */
async function cancelStatement(pool: Pool, client: PoolClient): Promise<void> {
  const pid = "processID" in client ? client.processID : undefined;
  if (typeof pid !== "number") return;
  await cancelPool(pool)
    .query("SELECT pg_cancel_backend($1)", [pid])
    .catch(() => undefined);
}

const cancelPools = new WeakMap<Pool, Pool>();

/**
 * Returns a separate pool with one connection for cancellations. If all connections of the pool wait for the same lock,
 * a cancellation that waits for one of them would be too late. The connection closes by itself.
 */
function cancelPool(pool: Pool): Pool {
  const existing = cancelPools.get(pool);
  if (existing !== undefined) return existing;
  const { options } = pool;
  // The password of a pool's options is not enumerable, so a spread omits it.
  const { password } = options;
  const created = new pg.Pool({
    ...options,
    ...(password !== undefined && { password }),
    max: 1,
    min: 0,
    idleTimeoutMillis: 1_000,
    allowExitOnIdle: true,
  });
  created.on("error", () => undefined);
  cancelPools.set(pool, created);
  return created;
}
