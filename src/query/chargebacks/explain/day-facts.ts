/**
 * What the store has beside a row's day: what tiers found that were passed over and what was missing, the owners, what was measured for the
 * identity, and the publication. One statement: each costs more to send and to plan than these parts take to read.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { oneThread, readRows, type Statement } from "../../../store/clickhouse/statement.js";
import type { DimensionFields } from "../dimension-row.js";
import type { RuleTierRow } from "./day.js";

export interface DayFactsInput {
  readonly dimension: Pick<DimensionFields, "resource_id" | "identity_id">;
  readonly day: string;
  /** Metrics of the row. */
  readonly metrics: readonly string[];
  /** Tiers before the one that applied, and with it; none where it is not known. */
  readonly passed: readonly RuleTierRow[];
  readonly tried: readonly RuleTierRow[];
  /** The digest of who is charged what; not read where there is nothing to compare it with. */
  readonly charged: Statement | undefined;
}

/**
 * - `usage`: a metric, and how many identities have it; `set`: the same of a scope of identity sets.
 * - `gap`: a metric or a scope, and why it could not be fetched.
 * - `owner`: an identity of the `owner` set.
 * - `sample`: a metric, the start of an hour and what was measured in it, in millionths of the metric's unit or in `scale` decimal places more.
 * - `charged`: the digest of who is charged what.
 * - `publication`: the hash of the day's input, and the epoch of the lease of the run that published it.
 */
export interface DayFact {
  readonly fact: "usage" | "set" | "gap" | "owner" | "sample" | "charged" | "publication";
  readonly name: string;
  /** Of `usage`, `set` and `gap`: empty if it is of the whole tenant. Of `sample` it is the scale. */
  readonly of_resource: string;
  /** `2026-01-01T05:00:00Z`. */
  readonly at: string;
  readonly value: string;
}

/** A resource has one owner, or a few that contradict each other. */
const MOST_OWNERS = 100;

/** Rows of `DayFact`, those of one kind in the order of their columns. What is not asked for is not read. */
export function factsOfDay({ dimension, day, metrics, passed, tried, charged }: DayFactsInput): Statement {
  const { resource_id, identity_id } = dimension;
  const used = sourcesOfKinds(passed, ["usage"]);
  const scopes = sourcesOfKinds(passed, ["even", "owner"]);
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
    used.length > 0 &&
      `
SELECT 'usage', toString(metric), toString(resource_id), ${never}, toString(count()) FROM (
  SELECT metric, resource_id FROM usage
  WHERE day = {day:Date} AND metric IN {used:Array(String)} AND resource_id = {resource_id:String}
  GROUP BY metric, resource_id, identity_id HAVING sum(micro_units) > 0
)
GROUP BY metric, resource_id`,
    scopes.length > 0 &&
      `
SELECT 'set', toString(scope), toString(resource_id), ${never}, toString(uniqExact(identity_id))
FROM identity_sets WHERE day = {day:Date} AND scope IN {scopes:Array(String)} AND resource_id IN ({resource_id:String}, '')
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
      ...(used.length > 0 && { used }),
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
  const of = (kind: DayFact["fact"]) => facts.filter(({ fact }) => fact === kind);
  return {
    usage: of("usage"),
    set: of("set"),
    gap: of("gap"),
    owner: of("owner"),
    sample: of("sample"),
    charged: of("charged"),
    publication: of("publication"),
  };
}
