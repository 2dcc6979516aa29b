/** The products of a self-managed cluster, priced at the rates of its region. */
import type { MeteredProduct } from "../../metered/price-day.js";
import { COMPUTE, type MeasuredProduct, measuredProducts } from "./measured-products.js";
import { queryOf, topicQueryOf } from "./queries.js";
import type { Rates, SelfManagedKafkaSettings } from "./settings.js";

/**
 * An override replaces the rates that it names. A region without an override has the rates of the cost model. Settings
 * of one day have at most one change of rates.
 */
function ratesOf({ region, cost_model }: SelfManagedKafkaSettings): Rates {
  const { region_overrides: overrides, changes: [change] = [], currency: _, ...rates } = cost_model;
  const ofRegion = region !== undefined && Object.hasOwn(overrides, region) ? overrides[region] : undefined;
  const { valid_from: __, valid_to: ___, ...changed } = change ?? {};
  return { ...rates, ...ofRegion, ...changed };
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
    ...measuredProducts.flatMap((product) => {
      const { name, type } = product;
      const rate = rates[product.rate];
      const query = billedQuery(settings, product);
      if (rate === undefined || query === undefined) return [];
      return [{ ...kafka, name, rate, quantity: { type, query } }];
    }),
  ];
}

/** Undefined if nothing measures the product. By topic, the cluster is the sum of its topics unless it is written. */
function billedQuery(
  settings: SelfManagedKafkaSettings,
  { cluster, perTopic }: MeasuredProduct,
): string | undefined {
  const isByTopic = settings.usage_by === "topic";
  if (cluster !== undefined && (!isByTopic || settings.queries[cluster] !== undefined))
    return queryOf(settings, cluster);
  const query = isByTopic ? topicQueryOf(settings, perTopic) : undefined;
  return query === undefined ? undefined : `sum(${query})`;
}
