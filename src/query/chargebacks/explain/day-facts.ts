/**
 * Further facts of a row's day in the store: the usage and gaps of skipped tiers, the owners, the identity's usage, and
 * the publication. One statement reads them all, because sending and planning each would take longer than reading these
 * parts.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { oneThread, readRows, type Statement } from "../../../clickhouse/statement.js";
import type { DimensionFields } from "../dimension-row.js";
import type { RuleTierRow } from "./day.js";

export interface DayFactsInput {
  readonly dimension: Pick<DimensionFields, "resource_id" | "identity_id">;
  readonly day: string;
  /** Metrics of the row. */
  readonly metrics: readonly string[];
  /** Tiers before the one that applied, and the tiers up to it; empty if it is unknown. */
  readonly skipped: readonly RuleTierRow[];
  readonly tried: readonly RuleTierRow[];
  /** Condition on `identity_id`, to append to another one: the identities that a step can give to. */
  readonly isRecipient: string;
  /** Computes the digest of recipients and amounts. Not read without something to compare it with. */
  readonly charged: Statement | undefined;
}

/**
 * - `usage`: a metric, and how many identities have it. `set`: a scope of identity sets, and how many identities it
 *   has.
 * - `gap`: a metric or a scope, and why it could not be fetched.
 * - `owner`: an identity of the `owner` set.
 * - `sample`: a metric, the start of an hour, and the usage in it, in millionths of the metric's unit or with `scale`
 *   more decimal places.
 * - `charged`: the digest of recipients and amounts.
 * - `publication`: the hash of the day's input, and the epoch of the run that published it.
 */
export interface DayFact {
  readonly fact: "usage" | "set" | "gap" | "owner" | "sample" | "charged" | "publication";
  readonly name: string;
  /** For `usage`, `set` and `gap`: empty for the whole tenant. For `sample`: the scale. */
  readonly of_resource: string;
  /** `2026-01-01T05:00:00Z`. */
  readonly at: string;
  readonly value: string;
}

/** A resource has one owner, or a few that contradict each other. */
const MOST_OWNERS = 100;

/** Selects `DayFact`, each kind in the order of its columns. Leaves out facts that are not requested. */
export function factsOfDay(input: DayFactsInput): Statement {
  const { dimension, day, metrics, skipped, tried, isRecipient, charged } = input;
  const { resource_id, identity_id } = dimension;
  const usageMetrics = sourcesOfKinds(skipped, ["usage"]);
  const scopes = sourcesOfKinds(skipped, ["even", "owner"]);
  const gaps = sourcesOfKinds(tried, ["usage", "even", "owner"]);
  const never = "toDateTime(0, 'UTC')";
  const parts = [
    `
SELECT 'publication' AS fact, input_hash AS name, '' AS of_resource, ${never} AS at, toString(epoch) AS value
FROM published_days FINAL WHERE ledger = 'chargebacks' AND day = {day:Date} AND input_hash != ''`,
    `
SELECT 'owner', toString(identity_id), '', ${never}, '' FROM (
  SELECT DISTINCT identity_id FROM identity_sets WHERE day = {day:Date} AND scope = 'owner' AND resource_id = {resource_id:String}
  ORDER BY identity_id LIMIT ${MOST_OWNERS}
)`,
    gaps.length > 0 &&
      `
SELECT 'gap', toString(metric), toString(resource_id), ${never}, reason
FROM usage_gaps WHERE day = {day:Date} AND metric IN {gaps:Array(String)} AND resource_id = {resource_id:String}`,
    usageMetrics.length > 0 &&
      `
SELECT 'usage', toString(metric), toString(resource_id), ${never}, toString(count()) FROM (
  SELECT metric, resource_id FROM usage
  WHERE day = {day:Date} AND metric IN {used:Array(String)} AND resource_id = {resource_id:String}${isRecipient}
  GROUP BY metric, resource_id, identity_id HAVING sum(micro_units) > 0
)
GROUP BY metric, resource_id`,
    scopes.length > 0 &&
      `
SELECT 'set', toString(scope), toString(resource_id), ${never}, toString(uniqExact(identity_id))
FROM identity_sets WHERE day = {day:Date} AND scope IN {scopes:Array(String)} AND resource_id IN ({resource_id:String}, '')${isRecipient}
GROUP BY scope, resource_id`,
    metrics.length > 0 &&
      `
SELECT 'sample', toString(metric), toString(max(scale)), toStartOfHour(timestamp) AS hour, toString(sum(micro_units))
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND identity_id = {identity_id:String}
GROUP BY hour, metric`,
    charged !== undefined &&
      `
SELECT 'charged', '', '', ${never}, toString(digest) FROM (${charged.query}
)`,
  ];
  return {
    query: `
SELECT * FROM (${parts.filter((part) => part !== false).join("\nUNION ALL")}
)
ORDER BY fact, at, name, of_resource`,
    params: {
      day,
      resource_id,
      ...(gaps.length > 0 && { gaps }),
      ...(usageMetrics.length > 0 && { used: usageMetrics }),
      ...(scopes.length > 0 && { scopes }),
      ...(metrics.length > 0 && { metrics, identity_id }),
      ...charged?.params,
    },
  };
}

function sourcesOfKinds(tiers: readonly RuleTierRow[], kinds: readonly RuleTierRow["kind"][]): string[] {
  return [...new Set(tiers.filter(({ kind }) => kinds.includes(kind)).flatMap((tier) => tier.sources))];
}

export type DayFacts = Readonly<Record<DayFact["fact"], readonly DayFact[]>>;

export async function readDayFacts(
  client: ClickHouseClient,
  input: DayFactsInput,
  signal?: AbortSignal,
): Promise<DayFacts> {
  const facts = await readRows<DayFact>(client, factsOfDay(input), signal, oneThread);
  const ofKind = (kind: DayFact["fact"]) => facts.filter(({ fact }) => fact === kind);
  return {
    usage: ofKind("usage"),
    set: ofKind("set"),
    gap: ofKind("gap"),
    owner: ofKind("owner"),
    sample: ofKind("sample"),
    charged: ofKind("charged"),
    publication: ofKind("publication"),
  };
}
