import { stagedTable } from "../clickhouse/staging.js";
import { type Ledger, ledgers } from "../domain/ledger.js";

/** A ledger, and how lines are split into it, as fixed SQL: the same statements fill both ledgers. */
export interface SplitLedger extends Ledger {
  /** Sets of recipients, `(day, scope, resource_id, recipient)`: a table or a query in parentheses. */
  sets(epoch: number): string;
  /** Detail of a part that goes to `nobody` while other parts of the line have recipients. */
  readonly unknown: string;
  /** Expression for the method of a part, from the tier's `kind` and its `source_key`. */
  readonly method: string;
  /** Like `method`, for tenants with configured rules, which have further kinds of tiers. */
  readonly configuredMethod?: string;
  /**
   * Further columns that explain a row, with their expressions. These may use `timestamp` and the parameters
   * `rules_hash`, `decimal_places`, `days` and `revisions`.
   */
  readonly explained: Readonly<Record<string, string>>;
  /** Values of the `explained` columns on a day that is given up: literals or expressions like those above. */
  readonly givenUp: Readonly<Record<string, string>>;
  /** Splits every line, or only lines of product types that have a rule. */
  readonly split: "all" | "ruled";
}

/** `revisions` are those of `days`, in their order. */
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

/**
 * Returns a condition on billing lines, to append to another one. It takes the parameter `rules_hash` unless it is
 * empty.
 */
export function ruledLines({ split }: SplitLedger): string {
  if (split === "all") return "";
  return " AND product_type IN (SELECT product_type FROM allocation_rules WHERE rules_hash = {rules_hash:String})";
}
