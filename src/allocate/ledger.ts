import { UNALLOCATED } from "../config/allocation-rule.js";
import { UNATTRIBUTED } from "../config/topic-rule.js";
import { type FactTable, stagedTable } from "../store/clickhouse/staging.js";

/**
 * What a bill is written into. The same statements split it twice: among identities, which makes chargebacks, and (only
 * lines that have a rule for it) among the topics of their cluster. Everything that differs stands here, as fixed SQL.
 */
export interface Ledger {
  readonly output: Extract<FactTable, "chargebacks" | "topic_attributions">;
  readonly usage: FactTable;
  readonly gaps: FactTable;
  /** Sets of recipients, `(day, scope, resource_id, recipient)`: a table or a query in parentheses. */
  sets(epoch: number): string;
  /** Column of whoever gets a part, here and in the facts. */
  readonly recipient: "identity_id" | "topic_name";
  /** Column of the output for the resource of the line. */
  readonly resource: "resource_id" | "cluster_resource_id";
  /** Recipient of what nobody was found for. */
  readonly nobody: string;
  /** Detail of a part of nobody that stands among parts of others. */
  readonly unknown: string;
  /** How a part was found, from `kind` of the tier and its `source_key`. */
  readonly method: string;
  /** The other columns of the output that explain a row, each with its expression. */
  readonly explained: Readonly<Record<string, string>>;
  /** The same columns where a day is given up, each with its literal. */
  readonly givenUp: Readonly<Record<string, string>>;
  /** Table of Postgres with the state of the ledger's days. */
  readonly state: "tracking_dates" | "topic_attribution_dates";
  /** Column of it that counts failed attempts to calculate a day. */
  readonly attempts: "allocation_attempts" | "attribution_attempts";
  /** Every line is split, or only those of product types that have a rule. */
  readonly lines: "all" | "ruled";
}

export const chargebackLedger: Ledger = {
  output: "chargebacks",
  usage: "usage",
  gaps: "usage_gaps",
  sets: (epoch) => stagedTable("identity_sets", epoch),
  recipient: "identity_id",
  resource: "resource_id",
  nobody: UNALLOCATED,
  unknown: "owner_unknown",
  method:
    "transform(kind, ['usage', 'owner', 'even'], ['usage_ratio', 'direct_owner', 'even_split'], 'terminal')",
  explained: {
    cost_type: "cost_type",
    allocation_method: "method",
    allocation_detail: "detail",
    component: "component",
    component_ratio: "component_ratio",
    tier: "tier",
    metric: "metric",
  },
  givenUp: {
    cost_type: "'shared'",
    allocation_method: "'terminal'",
    allocation_detail: "'allocation_failed'",
    component: "0",
    component_ratio: "'1'",
    tier: "0",
    metric: "''",
  },
  state: "tracking_dates",
  attempts: "allocation_attempts",
  lines: "all",
};

/** The topics of a day are those that were measured on it, also with usage 0. */
export const topicLedger: Ledger = {
  output: "topic_attributions",
  usage: "topic_usage",
  gaps: "topic_usage_gaps",
  sets: (epoch) =>
    `(SELECT DISTINCT day, 'topic' AS scope, resource_id, topic_name FROM ${stagedTable("topic_usage", epoch)} WHERE day IN {days:Array(Date)})`,
  recipient: "topic_name",
  resource: "cluster_resource_id",
  nobody: UNATTRIBUTED,
  unknown: "no_topics_located",
  method:
    "multiIf(kind = 'usage' AND source_key = 'topic_retained_bytes', 'retained_bytes_ratio', " +
    "kind = 'usage', 'bytes_ratio', kind = 'even', 'even_split', 'terminal')",
  explained: { attribution_method: "method", attribution_detail: "detail", metric: "metric" },
  givenUp: {
    attribution_method: "'terminal'",
    attribution_detail: "'attribution_failed'",
    metric: "''",
  },
  state: "topic_attribution_dates",
  attempts: "attribution_attempts",
  lines: "ruled",
};

/** Condition on lines of the bill, to follow another one. Takes the parameter `rules_hash` where it is not empty. */
export function ruledLines({ lines }: Ledger): string {
  if (lines === "all") return "";
  return " AND product_type IN (SELECT product_type FROM allocation_rules WHERE rules_hash = {rules_hash:String})";
}
