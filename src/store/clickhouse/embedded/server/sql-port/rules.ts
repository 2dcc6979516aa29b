/** The rules of the port for SQL clients: who may reach it from where, and how much a user may request. */
import type { FailedSignOns } from "./failed-sign-ons.js";
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
  /** Memory of the next query: all that may run at once stay within the port's share. It is less while ended statements go on. */
  readonly maxMemoryBytes: () => number;
  readonly maxThreads: number;
  /** Names by which clients may call this port, beside addresses and `localhost`; lower case. */
  readonly allowedHosts: readonly string[];
  readonly quotas: Quotas;
  readonly signOns: FailedSignOns;
  readonly memory: SessionMemory;
  /** The engine's folder, which no message names. */
  readonly dataDir: string;
  /** A statement of this user was ended, and goes on in the engine. */
  readonly tellLeftBehind: (user: string) => void;
}

/** A statement of a SQL client is longer than people and tools write when it is longer than this. */
export const MAX_SQL_STATEMENT_BYTES = 128 * 1024;
/** Kept back with `wait_end_of_query`, in memory: a longer answer is sent as it comes. */
export const MAX_HELD_BYTES = 8 * 1024 * 1024;
