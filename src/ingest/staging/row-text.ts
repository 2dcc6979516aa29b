/**
 * Records as lines of ClickHouse's TabSeparated format: a third of the bytes of JSONEachRow, and the quickest to parse.
 * The columns are in the order of the lists here; `day` of billing and usage is computed by the table itself.
 */
import type { BillingLine, IdentitySetMember, TopicUsageFact, UsageFact, UsageGap } from "../ecosystem.js";

export const stagedColumns = {
  billing: [
    "timestamp",
    "ecosystem",
    "tenant_id",
    "env_id",
    "resource_id",
    "product_category",
    "product_type",
    "quantity",
    "unit_price",
    "total_cost",
    "currency",
    "granularity",
    "metadata",
  ],
  usage: ["timestamp", "metric", "resource_id", "identity_id", "micro_units"],
  identity_sets: ["day", "scope", "resource_id", "identity_id"],
  usage_gaps: ["day", "metric", "resource_id", "reason"],
  topic_usage: ["timestamp", "metric", "resource_id", "topic_name", "micro_units"],
  topic_usage_gaps: ["day", "metric", "resource_id", "reason"],
} as const;

export type StagedInput = keyof typeof stagedColumns;

export function billingRow(line: BillingLine, ecosystem: string, tenantId: string): string {
  return row(
    time(line.timestamp),
    ecosystem,
    tenantId,
    line.env_id,
    line.resource_id,
    line.product_category,
    line.product_type,
    line.quantity,
    line.unit_price,
    line.total_cost,
    line.currency,
    line.granularity,
    JSON.stringify(line.metadata),
  );
}

export function usageRow(fact: UsageFact): string {
  return row(time(fact.timestamp), fact.metric, fact.resource_id, fact.identity_id, fact.micro_units);
}

export function topicUsageRow(fact: TopicUsageFact): string {
  return row(time(fact.timestamp), fact.metric, fact.resource_id, fact.topic_name, fact.micro_units);
}

export function memberRow(member: IdentitySetMember): string {
  return row(member.day, member.scope, member.resource_id, member.identity_id);
}

export function gapRow(gap: UsageGap): string {
  return row(gap.day, gap.metric, gap.resource_id, gap.reason);
}

/** `2026-01-01T05:00:00Z` as the default parser of DateTime wants it. */
function time(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)}`;
}

function row(...fields: readonly string[]): string {
  return `${fields.map(escaped).join("\t")}\n`;
}

const SPECIAL = /[\\\t\n\r\0]/;
const EACH_SPECIAL = /[\\\t\n\r\0]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
};

function escaped(field: string): string {
  // Hardly any field has one, and to look costs a third of replacing nothing.
  if (!SPECIAL.test(field)) return field;
  return field.replace(EACH_SPECIAL, (character) => ESCAPES[character] ?? character);
}
