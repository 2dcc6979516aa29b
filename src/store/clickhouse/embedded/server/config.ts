/** What the supervisor tells the child, and the child answers: messages over the process channel, never argv or environment. */

export interface ListenOn {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface ChildConfig {
  readonly dataDir: string;
  readonly maxMemoryBytes: number;
  readonly listen: ListenOn;
  readonly sqlPort: ListenOn | undefined;
}

export type ToChild = { readonly kind: "start"; readonly config: ChildConfig } | { readonly kind: "stop" };

export type FromChild =
  | { readonly kind: "ready"; readonly port: number }
  | { readonly kind: "failed"; readonly message: string };

/** How many statements run at once on each port, and how many wait; a read-only port must not starve the service. */
export const MAX_QUERIES = 16;
export const MAX_SQL_PORT_QUERIES = 4;
export const MAX_WAITING = 1000;

/** Each running statement holds a thread of the pool; above both limits there is room for KILL, SET, files and DNS. */
export const THREAD_POOL_SIZE = 32;

/** The engine's server configuration. */
export function engineConfigXml(maxMemoryBytes: number): string {
  return `<clickhouse>
  <max_server_memory_usage>${maxMemoryBytes}</max_server_memory_usage>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>2</background_pool_size>
  <logger><level>none</level></logger>
  <merge_tree>
    <fsync_after_insert>1</fsync_after_insert>
    <fsync_part_directory>1</fsync_part_directory>
  </merge_tree>
</clickhouse>
`;
}
