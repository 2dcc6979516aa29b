/**
 * How a product's cost is attributed to topics, as data: the vocabulary of the second way in which a bill is split. The
 * first, to identities, is in `allocation-rule.ts`; one statement does both.
 */

/** What is measured of a topic: bytes written and read in a step, and bytes kept, averaged over it. */
export const topicMetrics = ["topic_bytes_in", "topic_bytes_out", "topic_retained_bytes"] as const;
export type TopicMetric = (typeof topicMetrics)[number];

export interface TopicRule {
  readonly product_type: string;
  /** What topics are weighed by, added up. None: evenly among all topics of the line's cluster. */
  readonly metrics: readonly TopicMetric[];
}

/** Methods that the configuration can choose for a product type. */
export const topicSplits = ["bytes_ratio", "retained_bytes_ratio", "even_split"] as const;
export type TopicSplit = (typeof topicSplits)[number];

export const attributionMethods = [...topicSplits, "terminal"] as const;
export type AttributionMethod = (typeof attributionMethods)[number];

/** Details of a healthy attribution. */
const healthyAttributionDetails = ["usage_ratio_allocation", "even_split_allocation"] as const;

/** Details that mean that somebody should look. */
export const attributionIssueDetails = [
  "no_metrics_located",
  "metrics_fetch_failed",
  "no_topics_located",
  "attribution_failed",
] as const;

export const attributionDetails = [...healthyAttributionDetails, ...attributionIssueDetails] as const;
export type AttributionDetail = (typeof attributionDetails)[number];

/** Topic of whatever no topic was found for. No topic of Kafka is likely to be called so; none is excluded by it. */
export const UNATTRIBUTED = "__UNATTRIBUTED__";
