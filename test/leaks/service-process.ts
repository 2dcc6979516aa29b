/**
 * Runs `chargehouse serve` on its embedded stores, in a process that also reports their resources. Its argument is the
 * configuration's file.
 */
import { type Contents, contentsOf } from "../../bench/contents.js";
import { createLogger } from "../../src/cli/logger.js";
import { serveStores } from "../../src/cli/serve.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { readConfig } from "../../src/config/read-file.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { openStores } from "../../src/stores/open-stores.js";
import { signalEntries } from "../signal-entries.js";

/**
 * Returns the contents of its stores, the parts of the engine's memory, and the service's own heap after a garbage
 * collection.
 */
export interface Held extends Contents {
  /** Listeners that wait for the service to end. */
  readonly signalEntries: number;
  readonly engineCachesMiB: number;
  /**
   * Memory that the engine has requested from its allocator and not released. It does not vary with what the allocator
   * keeps or the system reclaims.
   */
  readonly engineAllocatedMiB: number;
  readonly heapMiB: number;
}

export type FromService =
  | { readonly url: string; readonly enginePid: number }
  | { readonly held: Held }
  | { readonly problem: string };

const tell = (message: FromService) => process.send?.(message);
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
process.once("disconnect", () => ending.abort());
const { signal } = ending;
const { stdout, stderr } = process;

const read = await readConfig(process.argv[2] ?? "", { env: {}, ecosystems });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { config } = read;
const logger = createLogger(config.logging);
const stores = await openStores({ config, logger, signal, isService: true });

async function held(): Promise<Held> {
  const [tenant = ""] = config.tenants.keys();
  const { client } = await stores.tenant(tenant);
  const contents = await contentsOf(client);
  const [caches] = await readRows<{ readonly MiB: number }>(client, {
    query: "SELECT sum(value) / 1048576 AS MiB FROM system.metrics WHERE metric LIKE '%CacheBytes'",
    params: {},
  });
  const [allocated] = await readRows<{ readonly MiB: number }>(client, {
    query: "SELECT toUInt64(extract(stats, 'Allocated: (\\d+)')) / 1048576 AS MiB FROM system.jemalloc_stats",
    params: {},
  });
  global.gc?.();
  return {
    ...contents,
    signalEntries: signalEntries(signal),
    engineCachesMiB: caches?.MiB ?? Number.NaN,
    engineAllocatedMiB: allocated?.MiB ?? Number.NaN,
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
  };
}

process.on("message", () => {
  held().then(
    (response) => tell({ held: response }),
    (error: unknown) => tell({ problem: String(error) }),
  );
});
const listening = (url: string) => {
  const enginePid = async () => {
    await stores.embeddedClickHouse?.endpoint();
    return stores.embeddedClickHouse?.pid() ?? 0;
  };
  void enginePid().then((pid) => tell({ url, enginePid: pid }));
};
await serveStores({
  config,
  logger,
  stores,
  mode: "both",
  onListening: listening,
  io: { stdout, stderr, env: {}, signal },
});
if (process.connected) process.disconnect();
