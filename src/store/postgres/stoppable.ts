/** Statements on Postgres that end when a signal does: pg itself cannot cancel. */
import { setTimeout as delay } from "node:timers/promises";
import pg, { type Pool, type PoolClient } from "pg";
import { abortable } from "../abortable.js";

/** Runs one statement on a connection of the pool. Throws the signal's reason as soon as that aborts. */
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
    // Only when the statement has ended, and nothing comes any more that would cancel the next one, may the connection serve others;
    // a broken one is thrown away.
    void Promise.allSettled([running, cancelled]).then(([ended]) =>
      client.release(ended.status === "rejected" && isConnectionLoss(ended.reason)),
    );
    throw error;
  }
}

/** A connection of the pool. Throws the signal's reason when that aborts first. */
export async function connectUntil(pool: Pool, signal: AbortSignal): Promise<PoolClient> {
  signal.throwIfAborted();
  const connecting = pool.connect();
  return await abortable(connecting, signal, () => {
    // The connection may still come: then it goes back.
    connecting.then(
      (late) => late.release(),
      () => undefined,
    );
  });
}

/** A cancelling that comes between two statements does nothing: so long until the next. */
const AGAIN_MS = 100;

/** Several statements on one connection, each of which is cancelled when the signal aborts. Throws its reason then. */
export async function cancellable<T>(
  { pool, client, signal }: { pool: Pool; client: PoolClient; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  let working = true;
  let cancelling: Promise<void> | undefined;
  const cancelAll = async () => {
    while (working) {
      await cancelStatement(pool, client);
      await delay(AGAIN_MS);
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

/** Errors of the server carry a SQLSTATE and leave the connection good. */
function isConnectionLoss(reason: unknown): boolean {
  return !(reason instanceof Error && "severity" in reason);
}

/** Asks the server to cancel what the connection runs; that connection then reports the end itself. Never rejects. */
async function cancelStatement(pool: Pool, client: PoolClient): Promise<void> {
  const pid = "processID" in client ? client.processID : undefined;
  if (typeof pid !== "number") return;
  await cancelling(pool)
    .query("SELECT pg_cancel_backend($1)", [pid])
    .catch(() => undefined);
}

const connections = new WeakMap<Pool, Pool>();

/**
 * One connection for cancelling, of its own: when all of the pool's wait for the same lock, a cancelling that waited for one of them
 * would come too late. It closes by itself.
 */
function cancelling(pool: Pool): Pool {
  const known = connections.get(pool);
  if (known !== undefined) return known;
  const { options } = pool;
  // The pool hides its password from copies.
  const { password } = options;
  const made = new pg.Pool({
    ...options,
    ...(password !== undefined && { password }),
    max: 1,
    min: 0,
    idleTimeoutMillis: 1_000,
    allowExitOnIdle: true,
  });
  made.on("error", () => undefined);
  connections.set(pool, made);
  return made;
}
