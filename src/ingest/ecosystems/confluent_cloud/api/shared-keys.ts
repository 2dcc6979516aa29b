/**
 * Warns once for each pair of tenants with the same Cloud key, because each of them is billed for the whole
 * organisation. That may be intended (a trial beside the real tenant), so it is not refused.
 */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { ConfluentCloudSettings } from "../settings.js";

const tenantsOf = new Map<string, Set<string>>();

export function warnOfSharedKey(
  { base_url, key }: ConfluentCloudSettings["ccloud_api"],
  { tenantName, logger }: { readonly tenantName: string; readonly logger: Logger },
): void {
  const organisation = createHash("sha256")
    .update(JSON.stringify([base_url, key]))
    .digest("hex");
  const tenants = tenantsOf.get(organisation) ?? new Set();
  tenantsOf.set(organisation, tenants);
  if (tenants.has(tenantName)) return;
  if (tenants.size > 0) {
    logger.warn(
      { tenant: tenantName, others: [...tenants] },
      `Tenant ${tenantName}: has the same Confluent Cloud key as ${[...tenants].join(", ")}; each of them is billed the whole organisation`,
    );
  }
  tenants.add(tenantName);
}
