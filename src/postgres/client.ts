/**
 * The pool of connections to Postgres, embedded or a server. All pools are opened here, so that all queries return
 * values in the same form and no lost connection ends the process.
 */
import pg from "pg";
import type { Logger } from "pino";
import { markLostPostgres } from "../common/lost-connection.js";

export interface PostgresOptions {
  logger: Logger;
  /** Name of our connections in `pg_stat_activity`. Default `chargehouse`. */
  applicationName?: string;
  /** Milliseconds until the server cancels a statement. Default 60,000; 0 for none. */
  statementTimeoutMs?: number;
  /** Returns why Postgres is down, if known. Callers get this error instead of the socket's. */
  outage?: () => Error | undefined;
  /** Maximum number of connections. Default 10; the embedded server allows 60 in all. */
  max?: number;
}

/** Milliseconds that a transaction may be idle, holding its locks, before the server ends its connection. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** `connection` is `EmbeddedPostgres.connection`, or `{ connectionString }` for a server. The caller ends the pool. */
export function openPostgres(connection: pg.PoolConfig, options: PostgresOptions): pg.Pool {
  const pool = new OutageAwarePool(options.outage, {
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    statement_timeout: options.statementTimeoutMs ?? 60_000,
    application_name: options.applicationName ?? "chargehouse",
    max: options.max ?? 10,
    ...connection,
    types: { getTypeParser },
  });
  const lost = (err: Error) => {
    // A server that stops right after us may end connections before their sockets have closed.
    if (!pool.ending) options.logger.warn({ err }, "lost a Postgres connection");
  };
  pool.on("error", lost); // idle connections; the pool replaces them
  // A borrowed connection that breaks between two queries emits `error`, and an `error` event without a listener ends
  // the process. The borrower's next query fails, so the borrower notices. A connection that breaks within a query
  // emits the error that the query fails with.
  pool.on("connect", (client) => {
    client.on("error", markLostPostgres);
  });
  return pool;
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool that fails at once with the reason if Postgres is down. */
class OutageAwarePool extends pg.Pool {
  constructor(
    private readonly outage: (() => Error | undefined) | undefined,
    config: pg.PoolConfig,
  ) {
    super(config);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const reason = this.outage?.();
    if (callback === undefined) return reason === undefined ? this.connected() : Promise.reject(reason);
    if (reason !== undefined) callback(reason, undefined, () => undefined);
    else
      super.connect((error, client, done) => {
        if (error !== undefined) markLostPostgres(error);
        callback(error, client, done);
      });
    return undefined;
  }

  private async connected(): Promise<pg.PoolClient> {
    try {
      return await super.connect();
    } catch (error) {
      if (error instanceof Error) markLostPostgres(error);
      throw error;
    }
  }
}

type TextParser = (value: string) => unknown;

const OID = { int8: 20, date: 1082, int8Array: 1016, dateArray: 1182 } as const;

/**
 * Differences from pg's own parsers (numeric stays a string, timestamptz is a Date):
 * - int8 becomes a number if that is exact, and fails otherwise. Our ids and counters stay below 2^53, and money is
 *   never an int8 here.
 * - date stays `YYYY-MM-DD`. pg makes it midnight in this machine's time zone, which is another UTC day east of
 *   Greenwich.
 */
const parsers: Readonly<Record<number, TextParser>> = {
  [OID.int8]: safeInteger,
  [OID.date]: (value) => value,
  [OID.int8Array]: arrayOf(OID.int8Array, safeInteger),
  [OID.dateArray]: (value) =>
    value
      .slice(1, -1)
      .split(",")
      .filter(Boolean)
      .map((day) => (day === "NULL" ? null : day)),
};

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  (format !== "binary" && parsers[oid]) ||
  pg.types.getTypeParser(oid, format === "binary" ? "binary" : "text");

export function safeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`The integer ${value} is too large for a number`);
  return number;
}

/** pg parses the array and leaves its elements as strings. `element` parses these. */
function arrayOf(oid: number, element: (value: string) => unknown): TextParser {
  const parse: TextParser = pg.types.getTypeParser(oid, "text");
  return (value) => (parse(value) as (string | null)[]).map((item) => (item === null ? null : element(item)));
}
