/**
 * SQL of steps that pass costs on. The allocation statement holds apart every row that a step will take, and a step is
 * the same statement again: the rows that it takes are its lines.
 */
import { stagedTable } from "../../clickhouse/staging.js";
import { lineColumns, lineKeySql } from "../../domain/ledger.js";
import { otherCosts } from "../../domain/other-costs.js";
import { heldDaySql, heldDaysSql } from "../../domain/passed-cost.js";
import { isTakenFrom } from "../../stores/facts/emptied.js";
import type { SplitLedger } from "../ledger.js";
import type { PassingStep } from "../rules.js";

/** A column within which costs are weighed, on the bill, and whether chargebacks have it as well. */
export interface PlaceColumn {
  readonly sql: string;
  readonly alias: string;
  readonly isInRows: boolean;
}

/** A bit for each step whose condition holds. */
function bitsOf(steps: readonly PassingStep[], conditionOf: (step: PassingStep) => string): string {
  const bits = steps.map((each) => `bitShiftLeft(toUInt32(${conditionOf(each)}), ${each.step - 1})`);
  return bits.length === 0 ? "toUInt32(0)" : bits.join(" + ");
}

/** For each of `names`, the steps after `step` that take from it. */
export function takersOfNames(steps: readonly PassingStep[], step: number): string {
  const later = steps.filter((each) => each.step > step);
  return `arrayMap(name -> ${bitsOf(later, (each) => isTakenFrom("name", each))}, names) AS takers_of_names`;
}

/** The steps after `step` whose conditions a line of the bill meets. */
export function stepsOfLine(steps: readonly PassingStep[], step: number): string {
  return bitsOf(
    steps.filter((each) => each.step > step),
    ({ where }) => where ?? "true",
  );
}

/**
 * Columns of `rows` of the allocation statement: the step that takes the row next, 0 if none does. It is the lowest bit
 * of the steps that take from the recipient and whose conditions the line meets.
 */
export const takenBySql =
  "bitAnd(takers_of_names[recipient], line_steps) AS takers, toUInt8(if(takers = 0, 0, bitCount(bitXor(takers, takers - 1)))) AS taken_by";

/** The columns of rows that steps may take, or that a step passed on, with their expressions. */
export function passingColumns(path: string): Readonly<Record<string, string>> {
  const hop =
    "(taken_by, names[recipient], toUInt8(tier), toString(method), toString(detail), toString(metric))";
  return {
    day: `if(taken_by = 0, day, ${heldDaySql("day")})`,
    passed_path: `arrayConcat(${path}, if(taken_by = 0, [], [${hop}]))`,
  };
}

/** Selects the rows that a step takes, in parentheses, as lines of the bill with further columns. */
export function takenRows(
  ledger: SplitLedger,
  epoch: number,
  steps: readonly PassingStep[],
  { step, places }: { readonly step: number; readonly places: readonly PlaceColumn[] },
): string {
  const copied = [...lineColumns(ledger, "key"), ...lineColumns(ledger, "same")];
  const later = steps.filter((each) => each.step > step);
  const isJoined = later.some(({ where }) => where !== undefined) || places.some(({ isInRows }) => !isInRows);
  const fromLines = places.filter(({ isInRows }) => !isInRows);
  const key = lineKeySql(ledger);
  const joined = isJoined
    ? ` ANY LEFT JOIN (
        SELECT ${key}, max(${stepsOfLine(steps, step)}) AS steps_of_line${fromLines.map(({ sql, alias }) => `, any(toString(${sql})) AS line_${alias}`).join("")}
        FROM ${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)} GROUP BY ${key}
      ) AS l USING (${key})`
    : "";
  const place = ({ sql, alias, isInRows }: PlaceColumn) =>
    `, concat(toString(currency), ':', ${isInRows ? `toString(${sql})` : `line_${alias}`}) AS ${alias}`;
  const costs = otherCosts.map((name) => `ifNull(r.${name}, toDecimal128(0, 12)) AS ${name}`).join(", ");
  return `(
      SELECT toDate(timestamp, 'UTC') AS day, ${copied.map(({ billColumn }) => billColumn).join(", ")},
        CAST(amount_hi AS Decimal(38, 12)) + amount_lo AS total_cost, ${costs}, component AS taken_component, component_ratio AS taken_ratio,
        passed_path AS taken_path, ${isJoined ? "steps_of_line" : stepsOfLine(steps, step)} AS line_steps${places.map(place).join("")}
      FROM ${stagedTable(ledger.name, epoch)} AS r${joined}
      WHERE r.day IN ${heldDaysSql} AND r.passed_path[-1].1 = ${step}
    )`;
}

/** Text that tells apart the rows of a line that a step takes: component and path, one element a line. */
export const TAKEN_POINT =
  "concat('\\n', toString(taken_component), arrayStringConcat(arrayMap(h -> concat('\\n', toString(h.1), '\\n', toString(h.2)), taken_path)))";
