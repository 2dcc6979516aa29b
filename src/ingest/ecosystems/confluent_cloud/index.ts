/** The ecosystem `confluent_cloud`: an organisation of Confluent Cloud, with the vendor's own bill. */
import { DAY_SECONDS } from "../../../common/days.js";
import { settingsOf } from "../../../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import { identityScopes } from "../../../domain/allocation-rule.js";
import { type TopicMetric, topicMetrics } from "../../../domain/topic-rule.js";
import type { AnyEcosystem, GatherContext, Gatherer } from "../../ecosystem.js";
import { createReplicaNotes } from "../../metered/replica-notes.js";
import { retainedDays } from "../../prometheus/retention-covers.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import { usageMetricsOf } from "../../usage-metrics.js";
import { connectConfluent, type Tuning } from "./api/connection.js";
import { gatherConfluentInventory } from "./inventory/index.js";
import { withTopics } from "./inventory/topics.js";
import { probeConfluent } from "./probe.js";
import { isUnchanged, type TopicResponses, type WindowResponses } from "./responses.js";
import { confluentDerivingMetrics, confluentRules, flinkUsage } from "./rules.js";
import { type ConfluentCloudSettings, confluentCloudSettings } from "./settings.js";
import { gatherTopics, topicQuery, topicRules } from "./topics.js";
import { isMeasured, usageQuery } from "./usage/queries.js";
import { gatherConfluentWindow } from "./window.js";

type Settings = ConfluentCloudSettings & Pick<PluginSettings, "metrics" | "metrics_step_seconds">;

const own = (settings: PluginSettings): Settings => settingsOf(confluentCloudSettings, settings);

export const confluentCloud: AnyEcosystem = {
  ...confluentCloudSettings,
  name: "confluent_cloud",
  rules: (settings) => confluentRules(own(settings)),
  derivingMetrics: () => confluentDerivingMetrics(),
  standIns: flinkUsage,
  unknownOwnersAreActive: true,
  usageMetrics: (settings) => usageMetricsOf(confluentRules(own(settings)), confluentDerivingMetrics()),
  identitySets: ({ metrics }) =>
    identityScopes.filter((scope) => scope !== "metrics_derived" || metrics !== undefined),
  topicRules: (settings) => topicRules(own(settings).topic_attribution),
  connect: (settings, context) => connectGatherer(settings, context),
};

/** A window is a month at most. The bill's own queries are shorter. */
const DAYS_PER_WINDOW = 31;

/** `tuning` and `now` are for tests: shorter waits, and another current day. */
export function connectGatherer(
  pluginSettings: PluginSettings,
  context: GatherContext,
  { now = () => new Date(), ...tuning }: Tuning & { readonly now?: () => Date } = {},
): Gatherer {
  const settings = own(pluginSettings);
  const connection = connectConfluent(settings, context, tuning);
  const { logger, known, parallelQueries = 4 } = context;
  const { topic_attribution: topics } = settings;
  const { prometheus: source } = connection;
  const replicas = source && createReplicaNotes(source, settings.metrics_step_seconds);
  const run = { billReceived: false };
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    // Queries of the bill start on calendar days, so each of them is within one window.
    cutAtMonths: true,
    gatherInventory: (sink, signal) => {
      const gatherRest = (into: typeof sink) =>
        gatherConfluentInventory({ ...connection, known }, into, signal, logger);
      if (!topics.enabled || source === undefined) return gatherRest(sink);
      return withTopics({ settings: topics, source }, gatherRest, sink, signal);
    },
    gatherTopics: (request, sink, signal) => {
      return gatherTopics({ settings: topics, source, parallelQueries }, request, sink, signal);
    },
    retentionCovers: (thinner, signal) => retentionCovers({ source, topics }, thinner, signal),
    async isUnchanged(window, { ofWindow, ofTopics }, signal) {
      const input = { settings, connection, parallelQueries, known, now };
      const responses = { of: ofWindow as WindowResponses, topics: ofTopics as TopicResponses | undefined };
      const same = await isUnchanged(input, window, responses, signal);
      if (same) run.billReceived = true;
      return same;
    },
    gatherWindow: (window, sink, signal) =>
      gatherConfluentWindow(
        { settings, connection, logger, parallelQueries, known, now, replicas, run },
        window,
        sink,
        signal,
      ),
    probe: (window, resources, signal) =>
      probeConfluent({ settings, connection, logger, now }, window, resources, signal),
    close: () => connection.close(),
  };
}

/** Usage that does not come from Prometheus, such as running statements, is never dropped by it. */
async function retentionCovers(
  {
    source,
    topics,
  }: {
    readonly source: PrometheusSource | undefined;
    readonly topics: ConfluentCloudSettings["topic_attribution"];
  },
  { metric, resources, days }: Parameters<NonNullable<Gatherer["retentionCovers"]>>[0],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isOfTopics = isTopicMetric(metric);
  if (!isOfTopics && !isMeasured(metric)) return days;
  if (source === undefined) return [];
  const expression = isOfTopics
    ? topicQuery(topics, metric, resources)
    : usageQuery(metric, resources, DAY_SECONDS);
  return await retainedDays(source, expression, days, signal);
}

function isTopicMetric(metric: string): metric is TopicMetric {
  return topicMetrics.some((each) => each === metric);
}
