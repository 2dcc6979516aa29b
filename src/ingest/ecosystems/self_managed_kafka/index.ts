/**
 * The ecosystem `self_managed_kafka`: a self-managed Kafka cluster, priced in the configuration and measured by
 * Prometheus.
 */
import { settingsOf } from "../../../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import type { AnyEcosystem, GatherContext, Gatherer } from "../../ecosystem.js";
import { createFirstDay } from "../../metered/first-day.js";
import { discovers, meteredSets, namesIdentities } from "../../metered/identity-source.js";
import type { MeteredTenant } from "../../metered/metered-tenant.js";
import { probeMetered } from "../../metered/probe.js";
import { createReplicaNotes } from "../../metered/replica-notes.js";
import { retentionCovers } from "../../metered/retention-covers.js";
import { createSilentMetrics } from "../../metered/silent-metrics.js";
import type { UsageMetric } from "../../metered/usage.js";
import { gatherMeteredWindow } from "../../metered/window.js";
import { connectPrometheus } from "../../prometheus/connection.js";
import { withoutRetriesWhenDown } from "../../prometheus/outage.js";
import { usageMetricsOf } from "../../usage-metrics.js";
import { gatherKafkaInventory } from "./inventory.js";
import { productsOf } from "./products.js";
import { BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL, queryOf } from "./queries.js";
import { kafkaDerivingMetrics, kafkaRules } from "./rules.js";
import { type SelfManagedKafkaSettings, selfManagedKafkaSettings } from "./settings.js";

type Settings = PluginSettings & SelfManagedKafkaSettings;

const ownSettings = (settings: PluginSettings): Settings => settingsOf(selfManagedKafkaSettings, settings);

export const selfManagedKafka: AnyEcosystem = {
  ...selfManagedKafkaSettings,
  name: "self_managed_kafka",
  rules: (settings) => kafkaRules(ownSettings(settings)),
  derivingMetrics: (settings) => kafkaDerivingMetrics(ownSettings(settings)),
  usageMetrics: (settings) =>
    usageMetricsOf(kafkaRules(ownSettings(settings)), kafkaDerivingMetrics(ownSettings(settings))),
  identitySets: (settings) => meteredSets(ownSettings(settings).identity_source),
  connect: (settings, context) => connect(ownSettings(settings), context),
};

/** The length does not matter for memory. One month keeps the list of reports short. */
const DAYS_PER_WINDOW = 31;

function connect(settings: Settings, context: GatherContext): Gatherer {
  const source = withoutRetriesWhenDown(connectPrometheus(settings.metrics, context));
  const stepSeconds = settings.metrics_step_seconds;
  const { identity_source: identities } = settings;
  const products = productsOf(settings);
  const usage = usageMetrics(settings);
  const tenant: MeteredTenant = {
    resourceId: settings.cluster_id,
    currency: settings.cost_model.currency,
    products,
    usage,
    namedIdentities: namesIdentities(identities)
      ? identities.static_identities.map(({ identity_id }) => identity_id)
      : [],
    // Brokers cost the same while they are not monitored.
    whenUnmeasured: "partial_bill",
    source,
    firstDay: createFirstDay({
      source,
      expressions: products.flatMap(({ quantity }) => (quantity.type === "fixed" ? [] : [quantity.query])),
      needed: "any",
      stepSeconds,
    }),
    replicas: createReplicaNotes(source, stepSeconds),
    silent: createSilentMetrics(source, usage, stepSeconds),
    stepSeconds,
    parallelQueries: context.parallelQueries ?? 4,
  };
  const inventory = { source, stepSeconds, logger: context.logger };
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    gatherInventory: (sink, signal) => gatherKafkaInventory(settings, inventory, sink, signal),
    retentionCovers: (reduced, signal) => retentionCovers(tenant, reduced, signal),
    gatherWindow: (window, sink, signal) => gatherMeteredWindow(tenant, window, sink, signal),
    probe: (window, _resources, signal) => probeMetered(tenant, window, signal),
    close: async () => source.close(),
  };
}

function usageMetrics(settings: SelfManagedKafkaSettings): UsageMetric[] {
  const { identity_source: source } = settings;
  if (!discovers(source)) return [];
  const metrics = [BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL] as const;
  return metrics.map((metric) => ({
    metric,
    expression: queryOf(settings, metric),
    label: source.label,
    measure: "value",
  }));
}
