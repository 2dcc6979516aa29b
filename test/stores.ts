import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Test } from "tap";
import type { Config } from "../src/config/config.js";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/reader/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { type OpenedStores, openStores } from "../src/stores/open-stores.js";
import { copyMigratedClickHouse } from "./migrated-clickhouse.js";
import { copyMigratedPostgres } from "./migrated-postgres.js";

/** A logger for tests: silent unless LOG_LEVEL says otherwise. */
export const testLogger = pino({ level: process.env.LOG_LEVEL ?? "silent" });

/** Makes a folder that is removed at the end of the test. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * With CLICKHOUSE_URL, such as `clickhouse://user:password@host:8123`, embedded tenants of tests are on that server
 * instead, each test's in databases of its own. With CLICKHOUSE_CLUSTER, they are on the replicas of that cluster.
 */
const { CLICKHOUSE_URL: server = "", CLICKHOUSE_CLUSTER: cluster = "" } = process.env;

function onServer(yaml: string): string {
  if (server === "") return yaml;
  const prefix = `test_${randomBytes(4).toString("hex")}`;
  const moved = yaml.replace(
    /\bembedded:([A-Za-z_]\w*)/g,
    (_, name: string) => `${server}/${prefix}_${name}`,
  );
  return cluster === "" || moved === yaml ? moved : `clickhouse: { cluster: ${cluster} }\n${moved}`;
}

/** Drops the databases that `onServer` caused to be created. */
async function dropDatabases(config: Config, stores: OpenedStores): Promise<void> {
  for (const { tenant_name, storage } of config.tenants.values()) {
    if (server === "" || storage.kind === "embedded") continue;
    const everywhere = storage.cluster === undefined ? "" : ` ON CLUSTER \`${storage.cluster}\``;
    const query = `DROP DATABASE IF EXISTS ${storage.database}${everywhere} SYNC`;
    // Some tests have tenants on unreachable servers.
    await stores
      .serverClient(tenant_name)
      .then((client) => client.command({ query }))
      .catch(() => undefined);
  }
}

/** Loads a configuration from YAML text, like the service. */
export function testConfig(written: string, folder: string): Config {
  const yaml = onServer(written);
  const loaded = loadConfig(yaml, { file: "test.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

/** A minimal tenant with one fixed cost type. */
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

/**
 * Opens the real stores of a configuration, embedded, in a temporary folder. They are closed at the end of the test.
 */
export async function openTestStores(
  t: Test,
  yaml = `tenants:${fixedTenant("acme")}`,
): Promise<{ config: Config; stores: OpenedStores; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-test-"));
  const config = testConfig(`data_dir: ${folder}/data\n${yaml}`, folder);
  copyMigratedPostgres(config.data_dir);
  copyMigratedClickHouse(config);
  const stores = await openStores({ config, logger: testLogger, isService: true });
  t.teardown(async () => {
    await dropDatabases(config, stores);
    await stores.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { config, stores, folder };
}
