/** Opens real embedded stores, with one tenant for each size of data. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/reader/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { type OpenedStores, openStores } from "../src/stores/open-stores.js";

export interface BenchStores {
  readonly stores: OpenedStores;
  readonly folder: string;
  close(): Promise<void>;
}

export function tenantName(rows: number): string {
  return `bench_${rows}`;
}

/** YAML of a tenant that is never gathered, because its facts are made in the store. */
export function tenantYaml(name: string, storage: string): string {
  return `
  ${name}:
    ecosystem: generic_metrics_only
    tenant_id: ${name}
    retention_days: 730
    storage: { connection_string: ${JSON.stringify(storage)} }
    plugin_settings:
      cluster_id: bench
      cost_types:
        - name: COMPUTE
          product_category: compute
          rate: 0.10
          cost_quantity: { type: fixed, count: 1 }
          allocation_strategy: even_split`;
}

/** Opens the stores in `data`, which is kept, or in a temporary folder. `others` are more tenants, by name. */
export async function openBenchStores(
  sizes: readonly number[],
  data: string | undefined,
  others: readonly string[] = [],
): Promise<BenchStores> {
  const folder = data ?? mkdtempSync(join(tmpdir(), "chargehouse-bench-"));
  mkdirSync(folder, { recursive: true });
  const names = [...new Set(sizes.map(tenantName)), ...others];
  const tenants = names.map((name) => tenantYaml(name, `embedded:${name}`));
  const yaml = `data_dir: ${JSON.stringify(join(folder, "data"))}\ntenants:${tenants.join("")}\n`;
  const loaded = loadConfig(yaml, { file: "bench.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  const stores = await openStores({ config: loaded.config, logger: pino({ level: "warn" }) });
  return {
    stores,
    folder,
    async close() {
      await stores.close();
      if (data === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
