import type { Config, TenantConfig } from "../config/config.js";
import { UsageError } from "./command.js";

/** Returns the tenants that `--tenant` names, or all. */
export function selectTenants(config: Config, names: readonly string[] | undefined): TenantConfig[] {
  if (names === undefined || names.length === 0) return [...config.tenants.values()];
  return names.map((name) => {
    const tenant = config.tenants.get(name);
    if (tenant !== undefined) return tenant;
    throw new UsageError(
      `unknown tenant "${name}"; the configuration has ${[...config.tenants.keys()].join(", ") || "none"}`,
    );
  });
}
