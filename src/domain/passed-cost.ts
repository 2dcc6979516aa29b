/**
 * Costs that steps of `allocation.pass_on` take from an identity and give to others. A chargeback keeps the path of its
 * cost: for each step that passed it on, the identity that it came from and how that identity had got it.
 */
import { LAST_STAGE } from "./allocation-rule.js";

/** The most steps of a tenant. They are bits of a UInt32. */
export const MOST_STEPS = 16;

/** Rules of steps are calculated after all stages of rules. Steps are numbered from 1. */
export function stageOfStep(step: number): number {
  return LAST_STAGE + step;
}

/** The step that has this stage; 0 for a stage of rules. */
export function stepOfStage(stage: number): number {
  return Math.max(stage - LAST_STAGE, 0);
}

/** The name under which the tiers of a step are stored as a rule. No rule for lines has a slash in its name. */
export function ruleOfStep(name: string): string {
  return `pass_on/${name}`;
}

/**
 * While a day is calculated, a row that a later step will take is held apart: in a partition of its own, 40 years after
 * its day. So no step rewrites the rows that stay, and published days never have rows that were taken. No bill is as
 * late as that, and the sum of both still fits a Date.
 */
const DAYS_AHEAD = 14_610;

/** SQL for the day on which rows of a day are held. */
export function heldDaySql(day: string): string {
  return `(${day} + ${DAYS_AHEAD})`;
}

/** SQL for the days on which rows of the parameter `days` are held, as an array. */
export const heldDaysSql = `arrayMap(d -> d + ${DAYS_AHEAD}, {days:Array(Date)})`;

/** Returns the day on which rows of a day are held. */
export function heldDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAYS_AHEAD * 86_400_000).toISOString().slice(0, 10);
}

/** SQL for the identity that a row belonged to before this step and all later ones. Step 0: as rules allocated it. */
export function identityBeforeSql(step: number): string {
  const hop = `arrayFirst(h -> h.1 >= ${step}, passed_path)`;
  return `if(${hop}.1 = 0, toString(identity_id), toString(${hop}.2))`;
}

/** SQL for a column that explains a row, as the rule gave the cost, before any step passed it on. */
export function asRuleGaveSql(
  column: "tier" | "allocation_method" | "allocation_detail" | "metric",
  type = "toString",
): string {
  return `if(passed_from = '', ${type}(chargebacks.${column}), ${type}(passed_path.${column}[1]))`;
}
