/** The four products of a self-managed cluster, priced at the rates of its region. */
import type { MeteredProduct } from "../../metered/price-day.js";
import { queryOf } from "./queries.js";
import type { Rates, SelfManagedKafkaSettings } from "./settings.js";

export const COMPUTE = "SELF_KAFKA_COMPUTE";
export const STORAGE = "SELF_KAFKA_STORAGE";
export const NETWORK_INGRESS = "SELF_KAFKA_NETWORK_INGRESS";
export const NETWORK_EGRESS = "SELF_KAFKA_NETWORK_EGRESS";

/** An override replaces the rates that it names. A region without an override has the rates of the cost model. */
function ratesOf({ region, cost_model }: SelfManagedKafkaSettings): Rates {
  const { region_overrides: overrides, currency: _, ...rates } = cost_model;
  if (region === undefined || !Object.hasOwn(overrides, region)) return rates;
  return { ...rates, ...overrides[region] };
}

export function productsOf(settings: SelfManagedKafkaSettings): MeteredProduct[] {
  const rates = ratesOf(settings);
  const kafka = { category: "kafka" };
  return [
    {
      ...kafka,
      name: COMPUTE,
      rate: rates.compute_hourly_rate,
      quantity: { type: "fixed", count: settings.broker_count },
    },
    {
      ...kafka,
      name: STORAGE,
      rate: rates.storage_per_gib_hourly,
      quantity: { type: "storage_gib", query: queryOf(settings, "cluster_storage_bytes") },
    },
    {
      ...kafka,
      name: NETWORK_INGRESS,
      rate: rates.network_ingress_per_gib,
      quantity: { type: "network_gib", query: queryOf(settings, "cluster_bytes_in") },
    },
    {
      ...kafka,
      name: NETWORK_EGRESS,
      rate: rates.network_egress_per_gib,
      quantity: { type: "network_gib", query: queryOf(settings, "cluster_bytes_out") },
    },
  ];
}
