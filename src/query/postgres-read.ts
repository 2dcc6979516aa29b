/** Runs a read on Postgres that ends when its signal does: pg itself knows no cancelling. */
import pg, { type Pool, type PoolClient } from "pg";

export interface PostgresRead {
  readonly query: string;
  readonly params: readonly unknown[];
}

export async function readPostgres<Row extends object>(
  pool: Pool,
  { query, params }: PostgresRead,
  signal?: AbortSignal,
): Promise<Row[]> {
  signal?.throwIfAborted();
  if (signal === undefined) return (await pool.query<Row>(query, [...params])).rows;
  const connecting = pool.connect();
  const client = await untilAborted(connecting, signal, () => {
    // The connection may still come: then it goes back.
    connecting.then(
      (late) => late.release(),
      () => undefined,
    );
  });
  const running = client.query<Row>(query, [...params]);
  let cancelled: Promise<void> | undefined;
  try {
    const result = await untilAborted(running, signal, () => {
      cancelled = cancelStatement(pool, client);
    });
    client.release();
    return result.rows;
  } catch (error) {
    // Only when the statement has ended, and nothing comes any more that would cancel the next one, may the connection serve others;
    // a broken one is thrown away.
    void Promise.allSettled([running, cancelled]).then(([ended]) =>
      client.release(ended.status === "rejected" && isConnectionLoss(ended.reason)),
    );
    throw error;
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

/** The promise's outcome, or the signal's reason as soon as it aborts; `cancel` is called in the latter case only. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, cancel: () => void): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}
