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
import { topicQueries } from "./presets.js";
import { productsOf } from "./products.js";
import {
  BYTES_IN_PER_PRINCIPAL,
  BYTES_OUT_PER_PRINCIPAL,
  queryOf,
  TOPIC_LABEL,
  topicQueryOf,
} from "./queries.js";
import { ownerlessTopics } from "./records.js";
import { kafkaDerivingMetrics, kafkaRules } from "./rules.js";
import { type SelfManagedKafkaSettings, selfManagedKafkaSettings } from "./settings.js";
import { createOwnerOf, type OwnerOf } from "./topic-owners.js";
import { attributedMetrics, gatherKafkaTopics, kafkaTopicRules } from "./topics.js";

type Settings = Omit<PluginSettings, keyof SelfManagedKafkaSettings> & SelfManagedKafkaSettings;

const ownSettings = (settings: PluginSettings): Settings => settingsOf(selfManagedKafkaSettings, settings);

export const selfManagedKafka: AnyEcosystem = {
  ...selfManagedKafkaSettings,
  name: "self_managed_kafka",
  rules: (settings) => kafkaRules(ownSettings(settings)),
  derivingMetrics: (settings) => kafkaDerivingMetrics(ownSettings(settings)),
  usageMetrics: (settings) =>
    usageMetricsOf(kafkaRules(ownSettings(settings)), kafkaDerivingMetrics(ownSettings(settings))),
  identitySets: (settings) => meteredSets(ownSettings(settings).identity_source),
  topicRules: (settings) => kafkaTopicRules(ownSettings(settings)),
  connect: (settings, context) => connect(ownSettings(settings), context),
};

/** The length does not matter for memory. One month keeps the list of reports short. */
const DAYS_PER_WINDOW = 31;

function connect(settings: Settings, context: GatherContext): Gatherer {
  const source = withoutRetriesWhenDown(connectPrometheus(settings.metrics, context));
  const stepSeconds = settings.metrics_step_seconds;
  const { identity_source: identities } = settings;
  const products = productsOf(settings);
  const ownerOf = createOwnerOf(settings.topic_owners ?? [], context.maps ?? new Map());
  const usage = usageMetrics(settings, ownerOf);
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
  const inventory = { source, stepSeconds, ownerOf, logger: context.logger };
  const queried = { ...tenant, usage: [...usage, ...attributedMetrics(settings)] };
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    gatherInventory: (sink, signal) => gatherKafkaInventory(settings, inventory, sink, signal),
    gatherTopics: (request, sink, signal) =>
      gatherKafkaTopics(settings, { ...tenant, source }, request, sink, signal),
    retentionCovers: (reduced, signal) => retentionCovers(queried, reduced, signal),
    gatherWindow: (window, sink, signal) => gatherMeteredWindow(tenant, window, sink, signal),
    async probe(window, resources, signal) {
      const remark = ownerlessTopics(settings, resources);
      const owners = remark === undefined ? [] : [{ name: "topic owners", remark }];
      return [...owners, ...(await probeMetered(queried, window, signal))];
    },
    close: async () => source.close(),
  };
}

function usageMetrics(settings: SelfManagedKafkaSettings, ownerOf: OwnerOf): UsageMetric[] {
  const { identity_source: source, usage_by } = settings;
  if (!discovers(source)) return [];
  const value = { measure: "value" } as const;
  if (usage_by !== "topic")
    return ([BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL] as const).map((metric) => ({
      ...value,
      metric,
      expression: queryOf(settings, metric),
      label: source.label,
    }));
  return topicQueries.flatMap((metric) => {
    const expression = topicQueryOf(settings, metric);
    return expression === undefined
      ? []
      : [{ ...value, metric, expression, label: TOPIC_LABEL, identityOf: ownerOf }];
  });
}
