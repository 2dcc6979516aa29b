import { stagedTable } from "../store/clickhouse/staging.js";
import { type Ledger, ledgers } from "../store/ledger.js";

/** A ledger with how lines are split into it, as fixed SQL: the same statements fill both. */
export interface SplitLedger extends Ledger {
  /** Sets of recipients, `(day, scope, resource_id, recipient)`: a table or a query in parentheses. */
  sets(epoch: number): string;
  /** Detail of a part of nobody that stands among parts of others. */
  readonly unknown: string;
  /** How a part was found, from `kind` of the tier and its `source_key`. */
  readonly method: string;
  /** The other columns of the table that explain a row, each with its expression. */
  readonly explained: Readonly<Record<string, string>>;
  /** The same columns where a day is given up, each with its literal. */
  readonly givenUp: Readonly<Record<string, string>>;
  /** Every line is split, or only those of product types that have a rule. */
  readonly split: "all" | "ruled";
}

export const chargebackLedger: SplitLedger = {
  ...ledgers.chargebacks,
  sets: (epoch) => stagedTable("identity_sets", epoch),
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
  split: "all",
};

/** The topics of a day are those that were measured on it, also with usage 0. */
export const topicLedger: SplitLedger = {
  ...ledgers.topic_attributions,
  sets: (epoch) =>
    `(SELECT DISTINCT day, 'topic' AS scope, resource_id, topic_name FROM ${stagedTable("topic_usage", epoch)} WHERE day IN {days:Array(Date)})`,
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
  split: "ruled",
};

/** Condition on lines of the bill, to follow another one. Takes the parameter `rules_hash` where it is not empty. */
export function ruledLines({ split }: SplitLedger): string {
  if (split === "all") return "";
  return " AND product_type IN (SELECT product_type FROM allocation_rules WHERE rules_hash = {rules_hash:String})";
}
