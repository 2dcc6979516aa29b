/** The rules of the port for SQL clients: where clients may connect from, and how much a user may request. */
import type { SqlSignOnLimiter } from "./failed-sign-ons.js";
import type { Quotas } from "./quotas.js";
import type { SessionMemory } from "./session-cache.js";

export interface SqlLimits {
  /** How long a query may take, from its request to the last byte of its response. */
  readonly maxSeconds: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
  /** Queries of one user that run at once. */
  readonly maxRunning: number;
  readonly maxPerMinute: number;
}

export interface SqlRules {
  readonly limits: SqlLimits;
  /**
   * Memory limit of the next query, so that all queries that may run at once stay within the port's share. It is lower
   * while ended statements still run.
   */
  readonly maxMemoryBytes: () => number;
  readonly maxThreads: number;
  /** Host names that clients may use for this port, besides addresses and `localhost`. Lower case. */
  readonly allowedHosts: readonly string[];
  readonly quotas: Quotas;
  readonly signOns: SqlSignOnLimiter;
  readonly memory: SessionMemory;
  /** The engine's folder, which no message may contain. */
  readonly dataDir: string;
  /** Reports a statement of this user that was ended but still runs in the engine. */
  readonly reportLeftBehind: (user: string) => void;
}

/** Maximum length of a SQL client's statement. People and tools write shorter ones. */
export const MAX_SQL_STATEMENT_BYTES = 128 * 1024;
/** Bytes buffered in memory with `wait_end_of_query`. The rest of a longer response is sent as it comes. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
