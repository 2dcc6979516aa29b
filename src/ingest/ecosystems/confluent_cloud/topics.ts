/**
 * Topics of Kafka clusters: the lines of the bill that are attributed to them, and the vendor's metrics of them.
 *
 * Every metric is summed over the vendor's minutes. For retained bytes that is byte-minutes, because storage is billed
 * by the hour, so a topic that existed half a day weighs half. Usage is read by day and not by hour, because the vendor
 * bills whole days: 660 clusters with eight topics each are 16,000 facts a day instead of 380,000.
 */
import pLimit from "p-limit";
import { allOrStop } from "../../../common/all-or-stop.js";
import { DAY_SECONDS, daysOfWindow } from "../../../common/days.js";
import { type TopicMetric, type TopicRule, topicMetrics } from "../../../domain/topic-rule.js";
import type { TopicRequest, TopicSink, UsageSeries } from "../../ecosystem.js";
import { failuresOf, type PrometheusSource, type RangeResponse } from "../../prometheus/source.js";
import type { TopicReport } from "../../reports.js";
import { topicMatcher } from "../../topic-patterns.js";
import {
  bytesInAndOut,
  retainedBytes,
  type TopicMetricsOfProducts,
  topicFacts,
  topicRulesOf,
} from "../../topic-rules.js";
import type { TopicResponses } from "./responses.js";
import type { TopicSettings } from "./topic-settings.js";
import { measure } from "./usage/measure.js";
import { anyOf, CLUSTER } from "./usage/queries.js";

export const TOPIC_LABEL = "topic";

/** Default weights of a product type's lines. */
const defaultMetrics: TopicMetricsOfProducts = new Map<string, readonly TopicMetric[]>([
  ["KAFKA_NETWORK_WRITE", ["topic_bytes_in"]],
  ["KAFKA_NETWORK_READ", ["topic_bytes_out"]],
  ["KAFKA_NUM_CKU", bytesInAndOut],
  ["KAFKA_NUM_CKUS", bytesInAndOut],
  ["KAFKA_STORAGE", retainedBytes],
  ["KAFKA_PARTITION", []],
  ["KAFKA_BASE", []],
]);

export function topicRules({ cost_mapping_overrides: overrides }: TopicSettings): TopicRule[] {
  return topicRulesOf(defaultMetrics, overrides);
}

export interface TopicGathering {
  readonly settings: TopicSettings;
  readonly source: PrometheusSource | undefined;
  readonly parallelQueries: number;
}

/** Clusters of one query, the same number as for usage of identities. */
const CLUSTERS_A_QUERY = 100;

/** A metric that cannot be fetched is a gap of its clusters and days. */
export async function gatherTopics(
  gathering: TopicGathering,
  { window, clusters }: TopicRequest,
  sink: TopicSink,
  signal: AbortSignal,
): Promise<TopicReport> {
  const { settings, source, parallelQueries } = gathering;
  if (source === undefined) throw new Error("settings that were not checked: topics without metrics");
  const dropped: Record<string, number> = {};
  const usage: RangeResponse[] = [];
  const note = (reason: string) => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  const isExcluded = topicMatcher(settings.exclude_topic_patterns);
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(parallelQueries);
  const queries = topicMetrics.flatMap((metric) =>
    chunksOf(clusters).map((chunk) =>
      limit(() => {
        const measurement = {
          metric,
          expression: topicQuery(settings, metric, chunk),
          among: {
            resources: chunk,
            expressionOf: (some: readonly string[]) => topicQuery(settings, metric, some),
          },
          window,
          stepSeconds: DAY_SECONDS,
          onResponse: (response: RangeResponse) => void usage.push(response),
          wanted: new Map(daysOfWindow(window).map((day) => [day, new Set(chunk)])),
          resourceLabel: CLUSTER,
          // A series without a topic is of the whole cluster.
          ownerOf: (labels: Readonly<Record<string, string>>) => () => labels[TOPIC_LABEL] || null,
          unnamed: "dropped" as const,
          keepsZeros: true,
        };
        const into = {
          usageSeries: (batch: readonly UsageSeries[]) => sink.usage(topicFacts(metric, batch, isExcluded)),
        };
        return measure(source, measurement, into, note, stopSignal);
      }),
    ),
  );
  await sink.usageGaps((await allOrStop(stop, queries)).flat());
  const responses: TopicResponses = { usage };
  return { dropped, errors: [], responses, failures: failuresOf(usage) };
}

export function topicQuery(
  { metric_name_overrides: names }: Pick<TopicSettings, "metric_name_overrides">,
  metric: TopicMetric,
  clusters: readonly string[],
): string {
  // A millisecond less than the day, as for usage of identities.
  const range = `${DAY_SECONDS * 1000 - 1}ms`;
  return `sum by (${CLUSTER}, ${TOPIC_LABEL}) (sum_over_time(${names[metric]}{${CLUSTER}=~"${anyOf(clusters)}"}[${range}]))`;
}

function chunksOf(clusters: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let from = 0; from < clusters.length; from += CLUSTERS_A_QUERY) {
    chunks.push(clusters.slice(from, from + CLUSTERS_A_QUERY));
  }
  return chunks;
}
