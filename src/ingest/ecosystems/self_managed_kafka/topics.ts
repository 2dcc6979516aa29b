/** Topic attribution of a self-managed cluster: its lines, split by the queries of topics. */
import pLimit from "p-limit";
import { allOrStop } from "../../../common/all-or-stop.js";
import { type TopicMetric, type TopicRule, topicMetrics } from "../../../domain/topic-rule.js";
import type { TopicRequest, TopicSink, UsageSeries, WindowSink } from "../../ecosystem.js";
import type { MeteredTenant } from "../../metered/metered-tenant.js";
import { gatherMeteredUsage, type UsageMetric } from "../../metered/usage.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { TopicReport } from "../../reports.js";
import { topicMatcher } from "../../topic-patterns.js";
import {
  bytesInAndOut,
  retainedBytes,
  type TopicMetricsOfProducts,
  topicFacts,
  topicRulesOf,
} from "../../topic-rules.js";
import { COMPUTE, NETWORK_EGRESS, NETWORK_INGRESS, PARTITIONS, STORAGE } from "./measured-products.js";
import type { TopicQuery } from "./presets.js";
import { TOPIC_LABEL, topicQueryOf } from "./queries.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

const defaultMetrics: TopicMetricsOfProducts = new Map<string, readonly TopicMetric[]>([
  [COMPUTE, bytesInAndOut],
  [STORAGE, retainedBytes],
  [NETWORK_INGRESS, ["topic_bytes_in"]],
  [NETWORK_EGRESS, ["topic_bytes_out"]],
  [PARTITIONS, []],
]);

const queries: Readonly<Record<TopicMetric, TopicQuery>> = {
  topic_bytes_in: "bytes_in_per_topic",
  topic_bytes_out: "bytes_out_per_topic",
  topic_retained_bytes: "storage_bytes_per_topic",
};

export function kafkaTopicRules({ topic_attribution: topics }: SelfManagedKafkaSettings): TopicRule[] {
  return topicRulesOf(defaultMetrics, topics?.cost_mapping_overrides ?? {});
}

type AttributedMetric = UsageMetric & { readonly metric: TopicMetric };

/** Returns the queries that attribution reads: none unless it is enabled. */
export function attributedMetrics(settings: SelfManagedKafkaSettings): AttributedMetric[] {
  if (settings.topic_attribution?.enabled !== true) return [];
  return topicMetrics.flatMap((metric) => {
    const expression = topicQueryOf(settings, queries[metric]);
    return expression === undefined ? [] : [{ metric, expression, label: TOPIC_LABEL, measure: "value" }];
  });
}

type Gathering = Pick<MeteredTenant, "resourceId" | "stepSeconds" | "parallelQueries"> & {
  readonly source: PrometheusSource;
};

/** A metric that cannot be fetched is a gap of its days. */
export async function gatherKafkaTopics(
  settings: SelfManagedKafkaSettings,
  { source, resourceId, stepSeconds, parallelQueries }: Gathering,
  { window }: Pick<TopicRequest, "window">,
  sink: TopicSink,
  signal: AbortSignal,
): Promise<TopicReport> {
  const dropped: Record<string, number> = {};
  const note = (reason: string) => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  const isExcluded = topicMatcher(settings.topic_attribution?.exclude_topic_patterns ?? []);
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(parallelQueries);
  const gathering = attributedMetrics(settings).map((metric) =>
    limit(() => {
      const query = {
        ...metric,
        of: { resource: resourceId },
        unnamed: "dropped",
        window,
        stepSeconds,
      } as const;
      const into: Pick<WindowSink, "usageSeries"> = {
        usageSeries: (batch: readonly UsageSeries[]) =>
          sink.usage(topicFacts(metric.metric, batch, isExcluded)),
      };
      return gatherMeteredUsage(source, query, into, note, stopSignal);
    }),
  );
  await sink.usageGaps((await allOrStop(stop, gathering)).flat());
  return { dropped, errors: [] };
}
