/**
 * Weights of a stage: what the stages before it allocated to each identity, written as staged usage facts. They are
 * written before the stage's own lines are allocated, so the staged chargebacks have only results of earlier stages. Rows
 * of published days are filtered by their stage. So no rule weighs by a result of its own stage.
 */
import { literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { ALLOCATED } from "../../config/allocation/derived-facts.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { ledgers, lineKeySql } from "../../domain/ledger.js";
import { insertCostWeights, isNotExcluded, placeSql } from "../../stores/facts/cost-weights.js";
import type { AllocatedWeights } from "../rules.js";

interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** With `over: month`, earlier days of the month that are not in `days` are read from the published chargebacks. */
export function insertAllocatedWeights({ epoch, days }: StagedDays, weights: AllocatedWeights): Statement {
  const { metric, rules, within, exclude, over, stage } = weights;
  const billing = stagedTable("billing", epoch);
  const linesOfRules = `${billing} WHERE day IN {days:Array(Date)} AND rule IN (${rules.map(literal).join(", ")})`;
  const targetDays = `(SELECT DISTINCT day FROM ${linesOfRules})`;
  // Only places with a line of these rules: no other weights are ever read.
  const inPlacesOfLines =
    within === undefined
      ? ""
      : ` AND place IN (SELECT DISTINCT ${placeSql(within.sql)} FROM ${linesOfRules})`;
  const inMonth = `day >= (SELECT toStartOfMonth(min(day)) FROM ${targetDays}) AND day <= (SELECT max(day) FROM ${targetDays})`;
  const staged = {
    rows: stagedTable("chargebacks", epoch),
    bill: billing,
    inDays: over === "day" ? `day IN ${targetDays}` : `day IN {days:Array(Date)} AND ${inMonth}`,
  };
  const published = {
    rows: "chargebacks",
    bill: "billing",
    inDays: `day NOT IN {days:Array(Date)} AND ${inMonth}`,
  };
  const isRecipient = `identity_id != '${UNALLOCATED}'${isNotExcluded("identity_id", exclude)}`;
  const isOfEarlierStage = `(rules_hash, rule) NOT IN (SELECT rules_hash, rule FROM allocation_rules WHERE stage >= ${stage})`;
  const costs =
    over === "day"
      ? `SELECT day AS target, place, identity, cost FROM (${costsByDay(weights, staged, `${isRecipient}${inPlacesOfLines}`)})`
      : `SELECT target, place, identity, sum(day_cost) AS cost
         FROM (
           SELECT place, identity, cost AS day_cost,
             arrayJoin(arrayFilter(t -> t >= day AND toStartOfMonth(t) = toStartOfMonth(day), (SELECT groupArray(day) FROM ${targetDays}))) AS target
           FROM (
             ${costsByDay(weights, staged, `${isRecipient}${inPlacesOfLines}`)}
             UNION ALL
             ${costsByDay(weights, published, `${isRecipient}${inPlacesOfLines} AND ${isOfEarlierStage}`)}
           )
         )
         GROUP BY target, place, identity`;
  return { query: insertCostWeights(epoch, metric, costs), params: { days } };
}

/** Chargebacks, their bill, and a condition on the days of both. */
interface CostRows {
  readonly rows: string;
  readonly bill: string;
  readonly inDays: string;
}

/** Costs by day, place and identity, in 10^-18. A column that rows do not have is read from the lines of the bill. */
function costsByDay({ within }: AllocatedWeights, { rows, bill, inDays }: CostRows, where: string): string {
  const key = lineKeySql(ledgers.chargebacks);
  const source =
    within === undefined || within.isInRows
      ? rows
      : `${rows} AS r ANY LEFT JOIN (
          SELECT ${key}, any(${within.sql}) AS line_value FROM ${bill} WHERE ${inDays} GROUP BY ${key}
        ) AS l USING (${key})`;
  const place = placeSql(within === undefined || within.isInRows ? within?.sql : "line_value");
  return `SELECT day, ${place} AS place, toString(identity_id) AS identity,
      (CAST(reinterpret(sum(amount_hi), 'Int128') AS Int256) * 100000000 + reinterpret(sum(amount_lo), 'Int128')) * 1000000 AS cost
    FROM ${source} WHERE ${inDays} AND ${where} GROUP BY day, place, identity_id`;
}

/** Finds days with weights of an interrupted calculation. */
export function daysWithAllocatedWeights({ epoch, days }: StagedDays): Statement {
  return {
    query: `SELECT DISTINCT toString(day) AS staged_day FROM ${stagedTable("usage", epoch)} WHERE day IN {days:Array(Date)} AND startsWith(metric, '${ALLOCATED}')`,
    params: { days },
  };
}

export function dropAllocatedWeights({ epoch, days }: StagedDays): Statement {
  return {
    query: `ALTER TABLE ${stagedTable("usage", epoch)} DELETE WHERE day IN {days:Array(Date)} AND startsWith(metric, '${ALLOCATED}')`,
    params: { days },
  };
}
