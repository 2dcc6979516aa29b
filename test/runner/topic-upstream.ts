import { daysOfWindow } from "../../src/common/days.js";
import type { Config } from "../../src/config/config.js";
import type { TopicAttributionSettings } from "../../src/config/settings/topic-attribution.js";
import type { TopicMetric, TopicRule } from "../../src/domain/topic-rule.js";
import type { AnyEcosystem, TopicUsageFact } from "../../src/ingest/ecosystem.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { runRows } from "./runs.js";
import { scriptedUpstream, type Upstream } from "./scripted-upstream.js";

/** A scripted upstream whose clusters have topics: METERED lines are attributed by bytes in, SHARED ones evenly. */
export interface TopicUpstream extends Upstream {
  /** Bytes in of each topic of every cluster, on every day. */
  topics: Record<string, number>;
  /** Topic metrics that fail, by day. */
  readonly topicGaps: Map<string, readonly TopicMetric[]>;
  topicRules: readonly TopicRule[];
  /** Called before each response with topics. It may throw. */
  onTopics: (clusters: readonly string[]) => void;
}

export const usualTopicRules: readonly TopicRule[] = [
  { product_type: "METERED", metrics: ["topic_bytes_in"] },
  { product_type: "SHARED", metrics: [] },
];

export function topicUpstream(changes: Partial<TopicUpstream> = {}) {
  const { upstream: base, ecosystems } = scriptedUpstream();
  const upstream: TopicUpstream = Object.assign(base, {
    topics: { orders: 1, users: 3, idle: 0 },
    topicGaps: new Map(),
    topicRules: usualTopicRules,
    onTopics: () => undefined,
    ...changes,
  });
  return { upstream, ecosystems: withTopicsOf(upstream, ecosystems) };
}

/** Adds topics to a scripted ecosystem. */
export function withTopicsOf(
  upstream: Pick<TopicUpstream, "topics" | "topicGaps" | "topicRules" | "onTopics">,
  ecosystems: ReadonlyMap<string, AnyEcosystem>,
): ReadonlyMap<string, AnyEcosystem> {
  const known = (ecosystem: AnyEcosystem): AnyEcosystem => ({
    ...ecosystem,
    topicRules: () => upstream.topicRules,
    connect: (settings, context) => ({
      ...ecosystem.connect(settings, context),
      async gatherTopics({ window, clusters }, sink) {
        upstream.onTopics(clusters);
        for (const day of daysOfWindow(window)) {
          const missing = upstream.topicGaps.get(day) ?? [];
          const reason = "the test says so";
          for (const resource_id of clusters)
            await sink.usageGaps(missing.map((metric) => ({ day, metric, resource_id, reason })));
          await sink.usage(
            factsOf(upstream.topics, day, clusters).filter((fact) => !missing.includes(fact.metric)),
          );
        }
        return { dropped: {}, errors: [] };
      },
    }),
  });
  return new Map([...ecosystems].map(([name, ecosystem]) => [name, known(ecosystem)]));
}

function factsOf(topics: Record<string, number>, day: string, clusters: readonly string[]): TopicUsageFact[] {
  return clusters.flatMap((resource_id) =>
    Object.entries(topics).flatMap(([topic_name, bytes]) => [
      {
        timestamp: `${day}T00:00:00Z`,
        metric: "topic_bytes_in" as const,
        resource_id,
        topic_name,
        micro_units: String(bytes * 1_000_000),
      },
      {
        timestamp: `${day}T00:00:00Z`,
        metric: "topic_retained_bytes" as const,
        resource_id,
        topic_name,
        micro_units: "1",
      },
    ]),
  );
}

/** Returns the configuration with topic attribution enabled for all its tenants. */
export function clusterWithTopics(config: Config, changes: Partial<TopicAttributionSettings> = {}): Config {
  const topic_attribution: TopicAttributionSettings = {
    enabled: true,
    exclude_topic_patterns: [],
    missing_metrics_behavior: "even_split",
    cost_mapping_overrides: {},
    retention_days: 90,
    ...changes,
  };
  const tenants = [...config.tenants].map(([name, tenant]) => {
    const plugin_settings = Object.assign({ ...tenant.plugin_settings }, { topic_attribution });
    return [name, { ...tenant, plugin_settings }] as const;
  });
  return { ...config, tenants: new Map(tenants) };
}

/** Returns a day's published attributions, `topic: amount`, with the detail if it is an issue. */
export async function attributedOn(stores: OpenedStores, tenantName: string, day: string): Promise<string[]> {
  const rows = await runRows<{ text: string }>(
    stores,
    tenantName,
    `SELECT concat(topic_name, ': ', toString(amount), if(attribution_detail LIKE '%_allocation', '', concat(' ', attribution_detail))) AS text
     FROM topic_attributions WHERE day = '${day}' ORDER BY cluster_resource_id, text`,
  );
  return rows.map((row) => row.text);
}

/** Returns the state of a day's attribution. */
export async function attributionDate(stores: OpenedStores, tenantName: string, day: string) {
  const found = await stores.postgres.query(
    "SELECT * FROM topic_attribution_dates WHERE tenant_name = $1 AND tracking_date = $2",
    [tenantName, day],
  );
  return found.rows[0];
}
