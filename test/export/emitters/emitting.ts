/** Helpers for tests of emitters: configurations with emitters, and the contents of their folders. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config, TenantConfig } from "../../../src/config/config.js";
import type { CsvEmitter, Emitter } from "../../../src/config/settings/emitters.js";
import type { OpenedStores } from "../../../src/stores/open-stores.js";

/** A parsed CSV emitter. */
export function csvEmitter(
  folder: string,
  {
    params,
    ...changes
  }: Partial<Omit<CsvEmitter, "params">> & { params?: Partial<CsvEmitter["params"]> } = {},
): CsvEmitter {
  return {
    type: "csv",
    pipelines: ["chargeback"],
    params: {
      output_dir: folder,
      filename_template: "{tenant_id}_{date}.csv",
      raw: false,
      provisional: "mark",
      ...params,
    },
    ...changes,
  };
}

/** Adds emitters to a tenant of the configuration. */
export function withEmitters(
  config: Config,
  tenantName: string,
  emitters: readonly Emitter[],
  changes: Partial<TenantConfig> = {},
): Config {
  const tenants = [...config.tenants].map(([name, tenant]) => {
    if (name !== tenantName) return [name, tenant] as const;
    const plugin_settings = { ...tenant.plugin_settings, emitters: [...emitters] };
    return [name, { ...tenant, ...changes, plugin_settings }] as const;
  });
  return { ...config, tenants: new Map(tenants) };
}

/** Names of all entries of a folder, including hidden ones. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

/** Lines of a file below its header. */
export function emittedLines(folder: string, name: string): string[] {
  return readFileSync(join(folder, name), "utf8").trimEnd().split("\n").slice(1);
}

/** Changes whenever a file is written, replaced or removed. */
export function stateOf(folder: string): Record<string, string> {
  const state = (name: string) => {
    const { ino, mtimeNs, ctimeNs } = statSync(join(folder, name), { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs}`;
  };
  return Object.fromEntries(namesIn(folder).map((name) => [name, state(name)]));
}

/** Records of a tenant's files: `emitter pipeline first_day status attempts`. */
export async function emissionsOf(stores: OpenedStores, tenantName: string): Promise<string[]> {
  const found = await stores.postgres.query<{ text: string }>(
    `SELECT concat_ws(' ', emitter, pipeline, first_day, status, attempts) AS text
     FROM emissions WHERE tenant_name = $1 ORDER BY emitter, pipeline, first_day`,
    [tenantName],
  );
  return found.rows.map((row) => row.text);
}
