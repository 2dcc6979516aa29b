import { stagedTable } from "../store/clickhouse/staging.js";
import { type Ledger, ledgers } from "../store/ledger.js";

/** A ledger, and how lines are split into it, as fixed SQL: the same statements fill both ledgers. */
export interface SplitLedger extends Ledger {
  /** Sets of recipients, `(day, scope, resource_id, recipient)`: a table or a query in parentheses. */
  sets(epoch: number): string;
  /** Detail of a part of nobody that stands among parts of others. */
  readonly unknown: string;
  /** How a part was found, from `kind` of the tier and its `source_key`. */
  readonly method: string;
  /** The same where lines can be given by the kinds of tiers that only configured rules have. */
  readonly configuredMethod?: string;
  /** The other columns of the table that explain a row, each with its expression, which may use `timestamp` and the parameters `rules_hash`, `decimal_places`, `days` and `revisions`. */
  readonly explained: Readonly<Record<string, string>>;
  /** The same columns where a day is given up, each with its literal or such an expression. */
  readonly givenUp: Readonly<Record<string, string>>;
  /** Every line is split, or only those of product types that have a rule. */
  readonly split: "all" | "ruled";
}

/** `revisions` are those of `days`. */
const REVISION = "transform(toDate(timestamp, 'UTC'), {days:Array(Date)}, {revisions:Array(String)}, '')";

export const chargebackLedger: SplitLedger = {
  ...ledgers.chargebacks,
  sets: (epoch) => stagedTable("identity_sets", epoch),
  unknown: "owner_unknown",
  method:
    "transform(kind, ['usage', 'owner', 'even'], ['usage_ratio', 'direct_owner', 'even_split'], 'terminal')",
  configuredMethod:
    "transform(kind, ['usage', 'owner', 'even', 'line', 'cost', 'fixed'], " +
    "['usage_ratio', 'direct_owner', 'even_split', 'line_identity', 'cost_ratio', 'fixed_ratio'], 'terminal')",
  explained: {
    cost_type: "cost_type",
    allocation_method: "method",
    allocation_detail: "detail",
    component: "component",
    component_ratio: "component_ratio",
    tier: "tier",
    metric: "metric",
    rules_hash: "{rules_hash:String}",
    decimal_places: "{decimal_places:UInt8}",
    revision: REVISION,
  },
  givenUp: {
    cost_type: "'shared'",
    allocation_method: "'terminal'",
    allocation_detail: "'allocation_failed'",
    component: "0",
    component_ratio: "'1'",
    tier: "0",
    metric: "''",
    rules_hash: "{rules_hash:String}",
    decimal_places: "{decimal_places:UInt8}",
    revision: REVISION,
  },
  split: "all",
};

/** The topics of a day are those that were measured on it, even with usage 0. */
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

/** Condition on lines of the bill, to append to another one. Takes the parameter `rules_hash` unless it is empty. */
export function ruledLines({ split }: SplitLedger): string {
  if (split === "all") return "";
  return " AND product_type IN (SELECT product_type FROM allocation_rules WHERE rules_hash = {rules_hash:String})";
}
