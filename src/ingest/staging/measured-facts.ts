/** What days are measured by: usage of identities, or of topics. */

export interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** Of which facts: usage of identities, or of topics, which only lines of some product types are attributed to. */
export interface MeasuredFacts {
  readonly usage: "usage" | "topic_usage";
  readonly gaps: "usage_gaps" | "topic_usage_gaps";
  readonly recipient: "identity_id" | "topic_name";
  /** Published lines that were split by them: `day`, `resource_id`, `product_type`. */
  readonly lines: string;
  /** Only lines of these count. Left out: all lines. */
  readonly productTypes?: readonly string[];
}

export const identityFacts: MeasuredFacts = {
  usage: "usage",
  gaps: "usage_gaps",
  recipient: "identity_id",
  lines: "SELECT DISTINCT day, resource_id, product_type FROM billing",
};

export const topicFacts: MeasuredFacts = {
  usage: "topic_usage",
  gaps: "topic_usage_gaps",
  recipient: "topic_name",
  lines: "SELECT DISTINCT day, cluster_resource_id AS resource_id, product_type FROM topic_attributions",
};
