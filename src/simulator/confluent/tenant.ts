/** The tenant of the configuration that a simulated Confluent Cloud is the upstream of. */
import { type SimulatedTenant, wholeHistory } from "../tenants.js";
import type { ConfluentCloud } from "./cloud.js";

/** With keys of all Flink regions but the last, as it happens: statements there are not known. */
export function confluentTenant(cloud: ConfluentCloud): SimulatedTenant {
  const { url, credentials, flink, metrics, organisation } = cloud;
  return {
    tenant_name: "cloud",
    tenant_id: organisation.id,
    ecosystem: "confluent_cloud",
    ...wholeHistory(organisation.days),
    plugin_settings: {
      ccloud_api: { ...credentials, base_url: url },
      metrics: { type: "prometheus", url: metrics.url, auth_type: "none" },
      flink: Object.entries(flink)
        .slice(0, -1)
        .map(([region_id, { key, secret, url: base_url }]) => ({ region_id, key, secret, base_url })),
      topic_attribution: { enabled: true },
    },
  };
}
