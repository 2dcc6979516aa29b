/**
 * Rules that attribute a product's costs to topics, as data. They are the second way to divide a bill; the first, to
 * identities, is in `allocation-rule.ts`. One SQL statement does both.
 */

/** Metrics of a topic: bytes written and read in a step, and bytes retained, averaged over the step. */
export const topicMetrics = ["topic_bytes_in", "topic_bytes_out", "topic_retained_bytes"] as const;
export type TopicMetric = (typeof topicMetrics)[number];

export interface TopicRule {
  readonly product_type: string;
  /** Metrics whose sum weighs the topics. If empty, all topics of the line's cluster share evenly. */
  readonly metrics: readonly TopicMetric[];
}

/** Methods that can be configured for a product type. */
export const topicSplits = ["bytes_ratio", "retained_bytes_ratio", "even_split"] as const;
export type TopicSplit = (typeof topicSplits)[number];

export const attributionMethods = [...topicSplits, "terminal"] as const;
export type AttributionMethod = (typeof attributionMethods)[number];

/** Details of an attribution that worked as intended. */
const healthyAttributionDetails = ["usage_ratio_allocation", "even_split_allocation"] as const;

/** Details of an attribution issue: a person should look at the row. */
export const attributionIssueDetails = [
  "no_metrics_located",
  "metrics_fetch_failed",
  "no_topics_located",
  "attribution_failed",
] as const;

export const attributionDetails = [...healthyAttributionDetails, ...attributionIssueDetails] as const;
export type AttributionDetail = (typeof attributionDetails)[number];

/** The topic of costs without a topic. A real topic of this name is unlikely, and still works. */
export const UNATTRIBUTED = "__UNATTRIBUTED__";
