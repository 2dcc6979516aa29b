/** Returns the days that the tenant's Prometheus still has all samples of, by metric. */

import { DAY_SECONDS } from "../../../common/days.js";
import { type TopicMetric, topicMetrics } from "../../../domain/topic-rule.js";
import type { Gatherer } from "../../ecosystem.js";
import { coveredDays } from "../../prometheus/retention-covers.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { ConfluentCloudSettings } from "./settings.js";
import { topicQuery } from "./topics.js";
import { isMeasured, usageQuery } from "./usage/queries.js";

/** Usage that does not come from Prometheus, such as running statements, is never dropped by it. */
export async function retentionCovers(
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
  return await coveredDays(source, expression, days, signal);
}

function isTopicMetric(metric: string): metric is TopicMetric {
  return topicMetrics.some((each) => each === metric);
}
