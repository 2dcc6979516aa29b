import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Test } from "tap";
import type { Config } from "../src/config/config.js";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { type OpenedStores, openStores } from "../src/store/open-stores.js";
import { copyMigratedPostgres } from "./migrated-postgres.js";

/** A logger for tests: silent unless LOG_LEVEL says otherwise. */
export const testLogger = pino({ level: process.env.LOG_LEVEL ?? "silent" });

/** A folder of its own, gone at the end of the test. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A configuration by the same path that the service reads one: from YAML text. */
export function testConfig(yaml: string, folder: string): Config {
  const loaded = loadConfig(yaml, { file: "test.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

/** A tenant with one fixed cost type, the least a configuration can have. */
export function fixedTenant(name: string): string {
  return `
  ${name}:
    ecosystem: generic_metrics_only
    tenant_id: ${name}
    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      cluster_id: cluster-${name}
      cost_types:
        - name: COMPUTE
          product_category: compute
          rate: 0.10
          cost_quantity: { type: fixed, count: 3 }
          allocation_strategy: even_split`;
}

/** The real stores of a configuration, embedded, in a temporary folder; closed at the end of the test. */
export async function openTestStores(
  t: Test,
  yaml = `tenants:${fixedTenant("acme")}`,
): Promise<{ config: Config; stores: OpenedStores; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-test-"));
  const config = testConfig(`data_dir: ${folder}/data\n${yaml}`, folder);
  copyMigratedPostgres(config.data_dir);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(async () => {
    await stores.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { config, stores, folder };
}
