/** What the supervisor tells the child, and what the child replies: messages over the process channel, never argv or environment. */
import type { TlsSettings } from "../../../../config/tls.js";
import type { PortUser } from "./port.js";
import { xmlText } from "./sql-port/roles.js";
import type { SqlLimits } from "./sql-port/rules.js";

/** The service's own way in: a unix socket in the engine's folder, which is the service's user's alone. */
export interface OwnListener {
  readonly socketPath: string;
  readonly user: string;
  readonly password: string;
}

export interface SqlListener {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsSettings | undefined;
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
  /** The certificate of the port for SQL clients is to be read again at once. */
  | { readonly kind: "renew-sql-certificate" }
  | { readonly kind: "stop" };

export type FromChild =
  /** What the start is at, for the log. */
  | { readonly kind: "starting"; readonly step: string }
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  /** The port for SQL clients listens (null), or why it does not. It is tried again until it does. */
  | { readonly kind: "sql-port"; readonly problem: string | null }
  /** Its certificate was renewed (null), or why the changed files are not taken. */
  | { readonly kind: "sql-certificate"; readonly problem: string | null }
  /** A statement of this user was ended, and goes on in the engine. */
  | { readonly kind: "sql-left-behind"; readonly user: string };

/** How many statements run at once for the service, and how many wait. */
export const MAX_QUERIES = 16;
export const MAX_WAITING = 1000;
/** The same of SQL clients, whose port must not starve the service; and the part of the engine's memory that all of them share. */
export const MAX_SQL_QUERIES = 4;
export const MAX_SQL_WAITING = 100;
export const SQL_MEMORY_PART = 4;

/** How many statements of SQL clients that were ended and go on in the engine make room for others: eight users' with the default limits. */
const MAX_LEFT_BEHIND = 24;

/** No user has more than its share, those that go on included. */
export function mostLeftBehind(sqlPort: SqlListener | undefined): number {
  if (sqlPort === undefined) return 0;
  return Math.min(sqlPort.users.length * sqlPort.limits.maxRunning, MAX_LEFT_BEHIND);
}

/** Each running statement holds a thread of the pool; above all limits there is room for KILL, SET, files and DNS. */
export function threadPoolSize(sqlPort: SqlListener | undefined): number {
  return MAX_QUERIES + MAX_SQL_QUERIES + mostLeftBehind(sqlPort) + SPARE_THREADS;
}
const SPARE_THREADS = 12;

/**
 * The engine's server configuration. Backups may go anywhere that the service's user may write: only the service can ask for one, and it
 * can write any file anyhow. The port for SQL clients admits neither BACKUP nor RESTORE.
 *
 * The engine looks for work in each table every ten seconds, and where it finds none, after twice as long each time; an insert wakes it. By
 * default each wait is only a tenth longer: in the first two minutes behind a start, 4,240 tables cost 31, 16, 9, 8, 6 and 4 s of processor time a minute instead of
 * 13, 10, 5, 3, 3 and 4.
 *
 * It notes the sizes of hash tables by the text of the statement, days and ids included, so most notes are never read again: 1,000 are enough, where 10,000 of
 * groupings and as many of joins took 4 MB.
 */
export function engineConfigXml(maxMemoryBytes: number, usersFile: string): string {
  return `<clickhouse>
  <users_config>${xmlText(usersFile)}</users_config>
  <max_server_memory_usage>${maxMemoryBytes}</max_server_memory_usage>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <max_entries_for_hash_table_stats>1000</max_entries_for_hash_table_stats>
  <background_pool_size>2</background_pool_size>
  <background_processing_pool_task_sleep_seconds_when_no_work_multiplier>2</background_processing_pool_task_sleep_seconds_when_no_work_multiplier>
  <logger><level>none</level></logger>
  <backups><allowed_path>/</allowed_path></backups>
  <merge_tree>
    <fsync_after_insert>1</fsync_after_insert>
    <fsync_part_directory>1</fsync_part_directory>
  </merge_tree>
</clickhouse>
`;
}
