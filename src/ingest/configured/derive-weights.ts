/**
 * Derives the weights of configured rules, as usage facts and identity sets of the staged days: costs that were charged
 * directly, fixed shares, and lists of identities. A day gets them if a rule that needs them matches one of its lines.
 *
 * A weight of costs is in the currency of its place. It is rounded down to millionths, or to as many more decimals as
 * give the largest weight of the place twelve digits. Values that are not above 0 are no weights.
 */
import { isoDay, literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { isDerivedMetric } from "../../config/allocation/derived-facts.js";
import type { AllocationPlan, DirectShares, PlannedCosts } from "../../config/allocation/plan.js";
import { insertCostWeights, isNotExcluded, placeSql } from "../../stores/facts/cost-weights.js";
import { lineValueSql } from "../../stores/facts/line-value.js";
import { ruleSql, type StagedLines } from "./assign-lines.js";
import { identitySql } from "./identity-sql.js";

export async function deriveWeights(staged: StagedLines, plan: AllocationPlan): Promise<void> {
  if (staged.days.length === 0) return;
  for (const costs of plan.costs.filter(({ stage }) => stage === undefined))
    await insert(staged, costFacts(staged.epoch, costs, plan));
  for (const { metric, rules, shares } of plan.shares) {
    const pairs = shares
      .map(([identity, share]) => `(${literal(identity)}, ${microUnits(share)})`)
      .join(", ");
    await insert(
      staged,
      `INSERT INTO ${stagedTable("usage", staged.epoch)} (timestamp, metric, resource_id, identity_id, micro_units)
       SELECT toDateTime(day, 'UTC'), ${literal(metric)}, '', share.1, share.2
       FROM ${daysOf(staged.epoch, rules)} ARRAY JOIN [${pairs}] AS share`,
    );
  }
  for (const { scope, rules, identities } of plan.lists) {
    await insert(
      staged,
      `INSERT INTO ${stagedTable("identity_sets", staged.epoch)} (day, scope, resource_id, identity_id)
       SELECT day, ${literal(scope)}, '', identity
       FROM ${daysOf(staged.epoch, rules)} ARRAY JOIN [${identities.map(literal).join(", ")}] AS identity`,
    );
  }
}

/** Drops derived facts of days that were staged as they are published, because an older configuration made them. */
export async function dropDerived({ client, epoch, days, signal }: StagedLines): Promise<void> {
  if (days.length === 0) return;
  const derived = {
    usage: isDerivedMetric("metric"),
    identity_sets: "startsWith(scope, 'list:')",
  } as const;
  for (const table of ["usage", "identity_sets"] as const) {
    await client.command({
      query: `ALTER TABLE ${stagedTable(table, epoch)} DELETE WHERE day IN {days:Array(Date)} AND ${derived[table]}`,
      query_params: { days: days.map(isoDay) },
      clickhouse_settings: { mutations_sync: "1" },
      abort_signal: signal,
    });
  }
}

async function insert({ client, days, signal }: StagedLines, query: string): Promise<void> {
  await client.command({
    query,
    query_params: { days: days.map(isoDay) },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  });
}

/** Selects the days with a line that one of these rules matches, or with any line. The SQL is in parentheses. */
function daysOf(epoch: number, rules: readonly string[] | undefined): string {
  const matched = rules === undefined ? "" : ` AND rule IN (${rules.map(literal).join(", ")})`;
  return `(SELECT DISTINCT day FROM ${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)}${matched})`;
}

/** Converts a plain decimal of at most 6 places to millionths. */
function microUnits(share: string): string {
  const [whole = "0", fraction = ""] = share.split(".");
  return BigInt(whole + fraction.padEnd(6, "0")).toString();
}

/**
 * Derives weights from costs. For rules over a month, days that are not staged, even if this gathering did not reach
 * them, count as they are published. A day that is staged without lines has none.
 */
function costFacts(epoch: number, costs: PlannedCosts, plan: AllocationPlan): string {
  const billing = stagedTable("billing", epoch);
  const place = placeSql(costs.within === undefined ? undefined : lineValueSql(costs.within, plan.columns));
  const line = (rule: string, identity: string) =>
    `day, ${place} AS place, toString(${identity}) AS identity, ${directSql(plan.direct, rule)} AS share, total_cost`;
  const stored = line("toString(rule)", "named_identity");
  const wanted = daysOf(epoch, costs.rules);
  const monthCondition = `day >= (SELECT toStartOfMonth(min(day)) FROM ${wanted}) AND day <= (SELECT max(day) FROM ${wanted})`;
  const source =
    costs.over === "day"
      ? `SELECT ${stored}, day AS target FROM ${billing} WHERE day IN ${wanted}`
      : `SELECT *, arrayJoin(arrayFilter(t -> t >= day AND toStartOfMonth(t) = toStartOfMonth(day), (SELECT groupArray(day) FROM ${wanted}))) AS target
         FROM (
           SELECT ${stored} FROM ${billing} WHERE ${monthCondition}
           UNION ALL
           SELECT ${line(ruleSql(plan), identitySql(plan))} FROM billing
           WHERE ${monthCondition} AND day NOT IN {days:Array(Date)} AND day NOT IN (SELECT DISTINCT day FROM ${billing})
         )`;
  return insertCostWeights(
    epoch,
    costs.metric,
    // In 10^-18: twelve places of the cost, six of the share.
    `
    SELECT target, place, identity, sum(CAST(reinterpret(total_cost, 'Int128') AS Int256) * share) AS cost
    FROM (${source})
    WHERE share > 0 AND identity != ''${isNotExcluded("identity", costs.exclude)}
    GROUP BY target, place, identity`,
  );
}

/**
 * Millionths of a line that are charged directly by the rule that matches it, as an expression on the columns of the
 * bill.
 */
function directSql({ byRule, byProduct }: DirectShares, rule: string): string {
  const defaultShare = byProduct.get("*") ?? 0;
  const products = [...byProduct].filter(([type]) => type !== "*");
  const productShare = chosen("toString(product_type)", products, `${defaultShare}`);
  return `toInt256(${chosen(rule, [...byRule], productShare)})`;
}

function chosen(text: string, cases: readonly (readonly [string, number])[], otherwise: string): string {
  if (cases.length === 0) return otherwise;
  return `multiIf(${cases.map(([value, share]) => `${text} = ${literal(value)}, ${share}`).join(", ")}, ${otherwise})`;
}
