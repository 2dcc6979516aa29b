/** Makes Postgres unreachable at a statement and reachable again at once, as in a restart or failover. */
import type pg from "pg";
import type { Test } from "tap";

/** Before the statement is sent, or after it is executed and before its response arrives. */
export const cutModes = ["before", "after"] as const;
export type CutMode = (typeof cutModes)[number];

type Query = (text: unknown, values?: unknown, callback?: Callback) => Promise<unknown>;
type Callback = (error: Error | undefined, result?: unknown) => void;

/** Breaks all connections of the pool at its nth statement after `arm`. Statements of all connections count. */
export async function cutConnections(t: Test, pool: pg.Pool) {
  const admin = await pool.connect();
  t.teardown(() => admin.release());
  const send = admin.query.bind(admin);
  const [{ pid } = { pid: 0 }] = (await send<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows;
  let left = Number.POSITIVE_INFINITY;
  let mode: CutMode = "before";
  let count = 0;
  let cutAt: string | undefined;
  const cut = () =>
    send(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ${pid}`,
    );

  const watch = (client: pg.PoolClient) => {
    const query = client.query.bind(client) as Query;
    const watched: Query = (text, values, callback) => {
      count += 1;
      left -= 1;
      if (left !== 0) return query(text, values, callback);
      cutAt = textOf(text).replaceAll(/\s+/g, " ").trim().slice(0, 60);
      if (isCopy(text)) {
        // A stream, which the caller gets at once, breaks during the transfer.
        void cut();
        return query(text, values, callback);
      }
      const broken = async () => {
        if (mode === "after") await query(text, values);
        await cut();
        if (mode === "before") return await query(text, values);
        throw new Error("Connection terminated unexpectedly");
      };
      const ended = broken();
      if (callback === undefined) return ended;
      ended.then(
        (result) => callback(undefined, result),
        (error) => callback(error),
      );
      return ended.catch(() => undefined);
    };
    Object.assign(client, { query: watched });
  };
  // Replace connections that were opened before.
  await cut();
  pool.on("connect", watch);

  return {
    /** Counts statements from now on. */
    arm(statement: number, how: CutMode) {
      left = statement;
      mode = how;
      count = 0;
      cutAt = undefined;
    },
    /** Number of statements since `arm`, and the statement that was hit. */
    state: () => ({ count, cutAt }),
    disarm() {
      left = Number.POSITIVE_INFINITY;
    },
  };
}

function isCopy(text: unknown): boolean {
  return typeof text === "object" && text !== null && "submit" in text;
}

function textOf(text: unknown): string {
  if (typeof text === "string") return text;
  return typeof text === "object" && text !== null && "text" in text ? String(text.text) : "";
}
