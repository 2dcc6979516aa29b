/** Rules and facts of topics that ecosystems with topics have in common. */
import type { TopicMetric, TopicRule, TopicSplit } from "../domain/topic-rule.js";
import type { TopicUsageFact, UsageSeries } from "./ecosystem.js";
import { factsOf } from "./usage-series.js";

export const bytesInAndOut = ["topic_bytes_in", "topic_bytes_out"] as const;
export const retainedBytes = ["topic_retained_bytes"] as const;

/** Product type → default weights of its lines. None: all topics share evenly. */
export type TopicMetricsOfProducts = ReadonlyMap<string, readonly TopicMetric[]>;

export function topicRulesOf(
  defaults: TopicMetricsOfProducts,
  overrides: Readonly<Record<string, TopicSplit | "disabled">>,
): TopicRule[] {
  const chosen = new Map<string, TopicSplit | "disabled" | undefined>([
    ...[...defaults.keys()].map((type) => [type, undefined] as const),
    ...Object.entries(overrides),
  ]);
  return [...chosen].flatMap(([product_type, split]) =>
    split === "disabled"
      ? []
      : [{ product_type, metrics: metricsOf(defaults.get(product_type) ?? [], split) }],
  );
}

function metricsOf(defaults: readonly TopicMetric[], split: TopicSplit | undefined): readonly TopicMetric[] {
  switch (split) {
    case undefined:
      return defaults;
    case "even_split":
      return [];
    case "retained_bytes_ratio":
      return retainedBytes;
    case "bytes_ratio":
      return defaults.length > 0 && defaults !== retainedBytes ? defaults : bytesInAndOut;
  }
}

/** Returns the usage of topics, which the series have as identities. */
export function topicFacts(
  metric: TopicMetric,
  batch: readonly UsageSeries[],
  isExcluded: (name: string) => boolean,
): TopicUsageFact[] {
  return factsOf(batch.filter(({ identity_id }) => !isExcluded(identity_id))).map(
    ({ identity_id: topic_name, ...fact }) => ({ ...fact, metric, topic_name }),
  );
}
