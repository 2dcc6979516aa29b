/** Tenants of the configuration whose upstream is the simulator. */
import { BROKERS, createOrganisation, type OrganisationOptions } from "./organisation.js";
import { KAFKA_BYTES_IN, KAFKA_BYTES_OUT, LOG_SIZE } from "./series.js";

export interface SimulatedTenant {
  /** Key under `tenants`. */
  readonly tenant_name: string;
  readonly tenant_id: string;
  readonly ecosystem: string;
  /** The length of the simulated history. */
  readonly lookback_days: number;
  readonly cutoff_days: number;
  readonly retention_days: number;
  readonly plugin_settings: Readonly<Record<string, unknown>>;
  readonly allocation?: Readonly<Record<string, unknown>>;
}

/** One tenant for each cluster of the organisation, with all cost types and both allocation strategies. */
export function simulatedTenants(options: OrganisationOptions & { readonly url: string }): SimulatedTenant[] {
  const { clusters, days } = createOrganisation(options);
  return clusters.map(({ name, id, index }) => ({
    tenant_name: name,
    tenant_id: `sim-${name}`,
    ecosystem: "generic_metrics_only",
    ...wholeHistory(days),
    plugin_settings: {
      cluster_id: id,
      display_name: `Kafka of ${name}`,
      metrics: { type: "prometheus", url: options.url, auth_type: "none" },
      identity_source: {
        // Every other tenant also configures an identity that has no metrics.
        source: index % 2 === 0 ? "prometheus" : "both",
        label: "principal",
        discovery_query: `group by (principal) (${KAFKA_BYTES_IN}{cluster="${id}"})`,
        principal_to_team: { [`User:${name}-gateway-1`]: "edge", [`User:${name}-ledger-2`]: "finance" },
        ...(index % 2 === 0
          ? {}
          : { static_identities: [{ identity_id: `team:${name}-platform`, identity_type: "team" }] }),
      },
      cost_types: costTypes(id),
    },
  }));
}

/** A tenant for a self-managed Kafka cluster: the organisation's last cluster, selected by the label `cluster`. */
export function selfManagedTenant(options: OrganisationOptions & { readonly url: string }): SimulatedTenant {
  const { clusters, days } = createOrganisation(options);
  const cluster = clusters.at(-1);
  if (cluster === undefined) throw new RangeError("an organisation without clusters");
  const { name, id } = cluster;
  return {
    tenant_name: name,
    tenant_id: `sim-${name}`,
    ecosystem: "self_managed_kafka",
    ...wholeHistory(days),
    plugin_settings: {
      cluster_id: id,
      broker_count: BROKERS,
      region: "eu-west-1",
      cost_model: {
        compute_hourly_rate: "0.1425",
        storage_per_gib_hourly: "0.000137",
        network_ingress_per_gib: "0.0115",
        network_egress_per_gib: "0.0485",
        region_overrides: { "eu-west-1": { compute_hourly_rate: "0.1610" } },
      },
      metrics: { type: "prometheus", url: options.url, auth_type: "none" },
      metric_selector: `cluster="${id}"`,
      identity_source: {
        source: "both",
        principal_to_team: { [`User:${name}-gateway-1`]: "edge", [`User:${name}-ledger-2`]: "finance" },
        static_identities: [{ identity_id: `team:${name}-platform`, identity_type: "team" }],
      },
      discovery_window_hours: 24,
    },
  };
}

/** Settings that cover the whole history. Yesterday is the last day with a bill. */
export function wholeHistory(days: number) {
  return { lookback_days: days, cutoff_days: 1, retention_days: Math.max(250, days) };
}

function costTypes(cluster: string): Readonly<Record<string, unknown>>[] {
  const moved = (metric: string) => `increase(${metric}{cluster="${cluster}"}[1h])`;
  const network = (name: string, metric: string, rate: string) => ({
    name,
    product_category: "kafka",
    rate,
    cost_quantity: { type: "network_gib", query: `sum(${moved(metric)})` },
    allocation_strategy: "usage_ratio",
    allocation_query: `sum by (principal) (${moved(metric)})`,
    allocation_label: "principal",
  });
  const shared = { product_category: "kafka", allocation_strategy: "even_split" };
  return [
    { name: "KAFKA_COMPUTE", rate: "0.1425", cost_quantity: { type: "fixed", count: 3 }, ...shared },
    {
      name: "KAFKA_STORAGE",
      rate: "0.000137",
      cost_quantity: { type: "storage_gib", query: `sum(${LOG_SIZE}{cluster="${cluster}"})` },
      ...shared,
    },
    network("KAFKA_NETWORK_IN", KAFKA_BYTES_IN, "0.0115"),
    network("KAFKA_NETWORK_OUT", KAFKA_BYTES_OUT, "0.0485"),
  ];
}
