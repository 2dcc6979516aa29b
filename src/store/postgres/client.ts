/**
 * The pool of connections to Postgres, embedded or a server: one way to open it, so that every query gets its values in the same
 * form and no lost connection ends the process.
 */
import pg from "pg";
import type { Logger } from "pino";

export interface PostgresOptions {
  logger: Logger;
  /** What the server's own tools show for our connections. Default `chargehouse`. */
  applicationName?: string;
  /** Milliseconds until the server cancels a statement. Default 60,000; 0 for none. */
  statementTimeoutMs?: number;
  /** Why nobody can connect: said to whoever tries, instead of what the socket says. */
  outage?: () => Error | undefined;
  /** Connections at most. Default 10; the embedded server takes 60 in all. */
  max?: number;
}

/** Milliseconds that a transaction may lie idle, holding its locks, before the server ends its connection. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** `connection` is `EmbeddedPostgres.connection`, or `{ connectionString }` for a server. The caller ends the pool. */
export function openPostgres(connection: pg.PoolConfig, options: PostgresOptions): pg.Pool {
  const pool = new InformedPool(options.outage, {
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
    // A server that is stopped right after us may end connections before their sockets have closed.
    if (!pool.ending) options.logger.warn({ err }, "lost a Postgres connection");
  };
  pool.on("error", lost); // of idle connections; the pool makes new ones
  // A connection that is lent out and breaks between two queries raises `error` on itself, and an `error` event that
  // nobody listens to ends the process. Its next query fails, which is what the borrower has to deal with.
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
  });
  return pool;
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool that knows when there is nobody to connect to. */
class InformedPool extends pg.Pool {
  constructor(
    private readonly outage: (() => Error | undefined) | undefined,
    config: pg.PoolConfig,
  ) {
    super(config);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const why = this.outage?.();
    if (callback === undefined) return why === undefined ? super.connect() : Promise.reject(why);
    if (why === undefined) super.connect(callback);
    else callback(why, undefined, () => undefined);
    return undefined;
  }
}

type TextParser = (value: string) => unknown;

const OID = { int8: 20, date: 1082, int8Array: 1016, dateArray: 1182 } as const;

/**
 * Our own forms; all else as pg has it (numeric stays a string, timestamptz is a Date):
 * - int8 becomes a number when that is exact, and fails otherwise: our ids and counters stay below 2^53, and money is
 *   never an int8 here;
 * - date stays `YYYY-MM-DD`: pg makes it midnight in the zone of this machine, which is another UTC day east of Greenwich.
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

/** pg reads the array; its elements, which it leaves as strings, are then read by `element`. */
function arrayOf(oid: number, element: (value: string) => unknown): TextParser {
  const parse: TextParser = pg.types.getTypeParser(oid, "text");
  return (value) => (parse(value) as (string | null)[]).map((item) => (item === null ? null : element(item)));
}
