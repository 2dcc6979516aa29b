/** The metered costs and usage of a `generic_metrics_only` tenant. */
import { createFirstDay, type FirstDay } from "../../metered/first-day.js";
import { discovers, namesIdentities } from "../../metered/identity-source.js";
import type { MeteredTenant } from "../../metered/metered-tenant.js";
import type { MeteredProduct } from "../../metered/price-day.js";
import { createReplicaNotes } from "../../metered/replica-notes.js";
import { createSilentMetrics } from "../../metered/silent-metrics.js";
import type { UsageMetric } from "../../metered/usage.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import { allocationMetric, DISCOVERY } from "./rules.js";
import type { GenericMetricsOnlySettings } from "./settings.js";

export interface Connection {
  /** Undefined if nothing is read from Prometheus. */
  readonly source: PrometheusSource | undefined;
  readonly stepSeconds: number;
  readonly parallelQueries: number;
}

export function meteredTenant(settings: GenericMetricsOnlySettings, connection: Connection): MeteredTenant {
  const { identity_source: source } = settings;
  const usage = usageMetrics(settings);
  const { source: prometheus, stepSeconds } = connection;
  return {
    ...connection,
    firstDay: firstDayOf(settings, connection),
    resourceId: settings.cluster_id,
    currency: settings.currency,
    products: products(settings),
    usage,
    replicas: prometheus && createReplicaNotes(prometheus, stepSeconds),
    silent: prometheus && createSilentMetrics(prometheus, usage, stepSeconds),
    namedIdentities: namesIdentities(source)
      ? source.static_identities.map(({ identity_id }) => identity_id)
      : [],
    whenUnmeasured: "no_bill",
  };
}

/**
 * A cost without samples is unknown, so a day needs samples of every metered cost. A tenant without metered costs needs
 * samples of some usage.
 */
function firstDayOf(
  settings: GenericMetricsOnlySettings,
  { source, stepSeconds }: Connection,
): FirstDay | undefined {
  if (source === undefined) return undefined;
  const costs = products(settings).flatMap(({ quantity }) =>
    quantity.type === "fixed" ? [] : [quantity.query],
  );
  if (costs.length > 0) return createFirstDay({ source, expressions: costs, needed: "all", stepSeconds });
  const expressions = usageMetrics(settings).map(({ expression }) => expression);
  return expressions.length === 0
    ? undefined
    : createFirstDay({ source, expressions, needed: "any", stepSeconds });
}

function products({ cost_types }: GenericMetricsOnlySettings): MeteredProduct[] {
  return cost_types.map(({ name, product_category: category, rate, cost_quantity: quantity }) => ({
    name,
    category,
    rate,
    quantity,
  }));
}

function usageMetrics({ identity_source: source, cost_types }: GenericMetricsOnlySettings): UsageMetric[] {
  const metrics: UsageMetric[] = [];
  if (discovers(source) && source.discovery_query !== undefined) {
    const { label, discovery_query: expression } = source;
    metrics.push({ metric: DISCOVERY, expression, label, measure: "seen" });
  }
  for (const costType of cost_types) {
    const { allocation_query: expression, allocation_label: label } = costType;
    if (expression === undefined || label === undefined) continue;
    metrics.push({ metric: allocationMetric(costType), expression, label, measure: "value" });
  }
  return metrics;
}
