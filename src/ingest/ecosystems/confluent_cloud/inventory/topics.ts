/**
 * Topics as resources, discovered by their metrics: the vendor measures the retained bytes of each topic, including
 * unused ones. A failure is only reported, because no day waits for its topics, and nothing is allocated by them.
 */
import { DAY_SECONDS } from "../../../../common/days.js";
import { UpstreamError } from "../../../../upstream/http/upstream-error.js";
import type { InventorySink, ResourceRecord } from "../../../ecosystem.js";
import type { PrometheusSource } from "../../../prometheus/source.js";
import type { InventoryReport } from "../../../reports.js";
import { topicMatcher } from "../../../topic-patterns.js";
import type { TopicSettings } from "../topic-settings.js";
import { TOPIC_LABEL } from "../topics.js";
import { anyOf, CLUSTER } from "../usage/queries.js";

const TOPIC = "topic";
/** Metrics arrive late and have gaps. A topic that was not seen for a week is gone. */
const TOPIC_GRACE_SECONDS = 8 * DAY_SECONDS;
const DISCOVERY_SECONDS = 3600;
const BATCH = 5000;

export interface TopicDiscovery {
  readonly settings: TopicSettings;
  readonly source: PrometheusSource;
}

/** Gathers the rest of the inventory with `gatherRest`, and then the topics of the clusters that it found. */
export async function withTopics(
  { settings, source }: TopicDiscovery,
  gatherRest: (sink: InventorySink) => Promise<InventoryReport>,
  sink: InventorySink,
  signal: AbortSignal,
): Promise<InventoryReport> {
  const clusters: string[] = [];
  const report = await gatherRest({
    ...sink,
    resources: async (batch) => {
      const kafka = batch.filter((resource) => resource.resource_type === "kafka_cluster");
      clusters.push(...kafka.map((cluster) => cluster.resource_id));
      await sink.resources(batch);
    },
  });
  if (clusters.length === 0) return report;
  try {
    const name = settings.metric_name_overrides.topic_retained_bytes;
    const query = `group by (${CLUSTER}, ${TOPIC_LABEL}) (last_over_time(${name}{${CLUSTER}=~"${anyOf(clusters)}"}[${DISCOVERY_SECONDS}s]))`;
    const found = await source.labelsNow(query, DISCOVERY_SECONDS, signal);
    const isExcluded = topicMatcher(settings.exclude_topic_patterns);
    const topics = found.flatMap(({ labels }) => topicRecord(labels, isExcluded));
    for (let from = 0; from < topics.length; from += BATCH)
      await sink.resources(topics.slice(from, from + BATCH));
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    const warning = `topics could not be discovered: ${error.message}`;
    return { ...report, warnings: [...(report.warnings ?? []), warning] };
  }
  return {
    ...report,
    completeResourceTypes: [...report.completeResourceTypes, TOPIC],
    absenceGraceSeconds: { ...report.absenceGraceSeconds, [TOPIC]: TOPIC_GRACE_SECONDS },
  };
}

function topicRecord(
  labels: Readonly<Record<string, string>>,
  isExcluded: (name: string) => boolean,
): ResourceRecord[] {
  const cluster = labels[CLUSTER] ?? "";
  const name = labels[TOPIC_LABEL] ?? "";
  if (cluster === "" || name === "" || isExcluded(name)) return [];
  return [
    {
      resource_id: `${cluster}:topic:${name}`,
      resource_type: TOPIC,
      display_name: name,
      parent_id: cluster,
      owner_id: null,
      created_at: null,
      metadata: {},
    },
  ];
}
