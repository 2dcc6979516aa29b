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
import { heldDaysSql, identityBeforeSql, stepOfStage } from "../../domain/passed-cost.js";
import { insertCostWeights, isNotExcluded, placeSql } from "../../stores/facts/cost-weights.js";
import { isNotEmptied } from "../../stores/facts/emptied.js";
import { chargebackLedger } from "../ledger.js";
import type { AllocatedWeights, PassingStep } from "../rules.js";
import { type PlaceColumn, takenRows } from "./passing-parts.js";

interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** With `over: month`, earlier days of the month that are not in `days` are read from the published chargebacks. */
export function insertAllocatedWeights(
  { epoch, days }: StagedDays,
  weights: AllocatedWeights,
  steps: readonly PassingStep[],
): Statement {
  const { metric, within, exclude, over, stage } = weights;
  const step = stepOfStage(stage);
  const billing = stagedTable("billing", epoch);
  const place = within && { ...within, alias: "place" };
  const lines = linesOf(weights, { epoch, steps, step, place });
  const targetDays = `(SELECT DISTINCT day FROM ${lines})`;
  // Only places with a line of these rules: no other weights are ever read.
  const placeOfLine = step > 0 ? "place" : placeSql(within?.sql);
  const inPlacesOfLines =
    within === undefined ? "" : ` AND place IN (SELECT DISTINCT ${placeOfLine} FROM ${lines})`;
  const inMonth = `day >= (SELECT toStartOfMonth(min(day)) FROM ${targetDays}) AND day <= (SELECT max(day) FROM ${targetDays})`;
  const isPassing = steps.length > 0;
  const staged = {
    rows: isPassing ? withHeldRows(epoch) : stagedTable("chargebacks", epoch),
    bill: billing,
    inDays: over === "day" ? `day IN ${targetDays}` : `day IN {days:Array(Date)} AND ${inMonth}`,
    identity: "identity_id",
  };
  const published = {
    rows: "chargebacks",
    bill: "billing",
    inDays: `day NOT IN {days:Array(Date)} AND ${inMonth}`,
    identity: identityBeforeSql(step),
  };
  const isRecipient = `who != '${UNALLOCATED}'${isNotExcluded("who", exclude)}${isNotEmptied("who", steps, step)}`;
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

/** Selects the lines that are split by the weights: lines of rules, or rows that a step takes. */
function linesOf(
  { rules }: AllocatedWeights,
  input: {
    readonly epoch: number;
    readonly steps: readonly PassingStep[];
    readonly step: number;
    readonly place: PlaceColumn | undefined;
  },
): string {
  const { epoch, steps, step, place } = input;
  if (step > 0)
    return takenRows(chargebackLedger, epoch, steps, { step, places: place === undefined ? [] : [place] });
  const names = (rules ?? []).map(literal).join(", ");
  return `${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)} AND rule IN (${names})`;
}

/** Selects the staged rows with those that a later step will take, on their own days. In parentheses. */
function withHeldRows(epoch: number): string {
  const all = `day IN {days:Array(Date)} OR day IN ${heldDaysSql}`;
  return `(SELECT * REPLACE (toDate(timestamp, 'UTC') AS day) FROM ${stagedTable("chargebacks", epoch)} WHERE ${all})`;
}

/** Chargebacks, their bill, and a condition on the days of both. */
interface CostRows {
  readonly rows: string;
  readonly bill: string;
  readonly inDays: string;
  /** An expression. */
  readonly identity: string;
}

/** Costs by day, place and identity, in 10^-18. A column that rows do not have is read from the lines of the bill. */
function costsByDay(
  { within }: AllocatedWeights,
  { rows, bill, inDays, identity }: CostRows,
  where: string,
): string {
  const key = lineKeySql(ledgers.chargebacks);
  const source =
    within === undefined || within.isInRows
      ? rows
      : `${rows} AS r ANY LEFT JOIN (
          SELECT ${key}, any(${within.sql}) AS line_value FROM ${bill} WHERE ${inDays} GROUP BY ${key}
        ) AS l USING (${key})`;
  const place = placeSql(within === undefined || within.isInRows ? within?.sql : "line_value");
  return `SELECT day, ${place} AS place, ${identity} AS who, toString(who) AS identity,
      (CAST(reinterpret(sum(amount_hi), 'Int128') AS Int256) * 100000000 + reinterpret(sum(amount_lo), 'Int128')) * 1000000 AS cost
    FROM ${source} WHERE ${inDays} AND ${where} GROUP BY day, place, who`;
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
