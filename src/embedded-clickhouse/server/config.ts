/** Messages between the supervisor and its child. They use the process channel, never argv or the environment. */
import type { TlsFiles } from "../../common/tls/certificate.js";
import type { PortUser } from "./port.js";
import { xmlText } from "./sql-port/roles.js";
import type { SqlLimits } from "./sql-port/rules.js";

/**
 * The listener for the service itself: a unix socket in the engine's folder, which only the service's user can enter.
 */
export interface OwnListener {
  readonly socketPath: string;
  readonly user: string;
  readonly password: string;
}

export interface SqlListener {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  readonly users: readonly PortUser[];
  readonly allowedHosts: readonly string[];
  readonly limits: SqlLimits;
}

export interface ChildConfig {
  readonly dataDir: string;
  readonly maxMemoryBytes: number;
  readonly listen: OwnListener;
  readonly sqlPort: SqlListener | undefined;
}

export type ToChild =
  | { readonly kind: "start"; readonly config: ChildConfig }
  /** The certificate of the port for SQL clients must be read again at once. */
  | { readonly kind: "renew-sql-certificate" }
  | { readonly kind: "stop" };

export type FromChild =
  /** The current step of the start, for the log. */
  | { readonly kind: "starting"; readonly step: string }
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  /** Null: the port for SQL clients listens. Otherwise the reason why not; opening it is retried. */
  | { readonly kind: "sql-port"; readonly problem: string | null }
  /** Null: the certificate was renewed. Otherwise the reason why the changed files are rejected. */
  | { readonly kind: "sql-certificate"; readonly problem: string | null }
  /** A statement of this user was ended, but still runs in the engine. */
  | { readonly kind: "sql-left-behind"; readonly user: string };

/** Maximum number of the service's statements that run at once, and that wait. */
export const MAX_QUERIES = 16;
export const MAX_WAITING = 1000;
/**
 * The same for SQL clients, whose port must not starve the service, and the fraction of the engine's memory (1 / n)
 * that they share.
 */
export const MAX_SQL_QUERIES = 4;
export const MAX_SQL_WAITING = 100;
export const SQL_MEMORY_PART = 4;

/**
 * Maximum number of statements of SQL clients that were ended, still run in the engine, and do not count against the
 * limits of running statements: those of eight users with the default limits.
 */
const MAX_LEFT_BEHIND = 24;

/**
 * Returns the maximum for a port. No user exceeds its own limit, including statements that still run after they were
 * ended.
 */
export function maxLeftBehind(sqlPort: SqlListener | undefined): number {
  if (sqlPort === undefined) return 0;
  return Math.min(sqlPort.users.length * sqlPort.limits.maxRunning, MAX_LEFT_BEHIND);
}

/**
 * Each running statement takes a thread of the pool. Beyond all limits there are spare threads for KILL, SET, files and
 * DNS.
 */
export function threadPoolSize(sqlPort: SqlListener | undefined): number {
  return MAX_QUERIES + MAX_SQL_QUERIES + maxLeftBehind(sqlPort) + SPARE_THREADS;
}
const SPARE_THREADS = 12;

/** The engine compares its memory with the system's this often. By default it does so twenty times a second. */
const MEMORY_CHECK_MS = 1_000;

const longWaits = (pool: string) => {
  const prefix = `background_${pool}_task_sleep_seconds_when_no_work`;
  return `  <${prefix}_multiplier>2</${prefix}_multiplier>\n  <${prefix}_max>3600</${prefix}_max>`;
};

/**
 * Returns the engine's server configuration. Backups may go anywhere that the service's user may write: only the
 * service can request one, and it can write any file anyway. The port for SQL clients allows neither BACKUP nor
 * RESTORE.
 *
 * The engine looks for background work in each table every ten seconds, and if it finds none, waits twice as long each
 * time, up to an hour (ten minutes by default); an insert wakes it. By default each wait is only a tenth longer: in the
 * first two minutes after a start, 4,240 tables cost 31, 16, 9, 8, 6 and 4 s of CPU time a minute instead of 13, 10, 5,
 * 3, 3 and 4.
 *
 * The engine caches sizes of hash tables by the text of the statement, including days and ids, so most entries are
 * never used again. 1,000 entries are enough; 10,000 for GROUP BY and as many for joins took 4 MB.
 */
export function engineConfigXml(maxMemoryBytes: number, usersFile: string): string {
  return `<clickhouse>
  <users_config>${xmlText(usersFile)}</users_config>
  <max_server_memory_usage>${maxMemoryBytes}</max_server_memory_usage>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <max_entries_for_hash_table_stats>1000</max_entries_for_hash_table_stats>
  <background_pool_size>2</background_pool_size>
${["processing_pool", "move_processing_pool", "streaming_processing_pool"].map(longWaits).join("\n")}
  <memory_worker_period_ms>${MEMORY_CHECK_MS}</memory_worker_period_ms>
  <logger><level>none</level></logger>
  <backups><allowed_path>/</allowed_path></backups>
  <merge_tree>
    <fsync_after_insert>1</fsync_after_insert>
    <fsync_part_directory>1</fsync_part_directory>
  </merge_tree>
</clickhouse>
`;
}
