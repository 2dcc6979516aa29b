/** The tenant of the configuration whose upstream is a simulated Confluent Cloud. */
import { type SimulatedTenant, wholeHistory } from "../tenants.js";
import type { ConfluentCloud } from "./cloud.js";

/** The last Flink region has no key, as may happen in practice, so its statements are unknown. */
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
