/**
 * Names of weights that no upstream measures, such as costs and configured shares. They are staged as usage facts and
 * identity sets under these names, so that the allocation statement handles them like measured usage. No ecosystem has
 * metrics with such names.
 */
import type { ListScope, SetOf } from "../../domain/allocation-rule.js";

export interface CostWeights {
  /** Column or tag whose value the lines share; undefined: all lines of the currency. */
  readonly within: string | undefined;
  readonly over: "day" | "month";
}

/** `cost`, `cost@COLUMN`, `cost/month`, `cost@COLUMN/month`. */
export function costMetric({ within, over }: CostWeights): string {
  return `cost${within === undefined ? "" : `@${within}`}${over === "month" ? "/month" : ""}`;
}

/** Costs are never weighed across currencies. */
export function costPlace({ within }: CostWeights): SetOf {
  return within === undefined ? "currency" : `currency@${within}`;
}

/** Name of a component of a rule. A rule with one component needs no number. */
export function partName(rule: string, component: number, components: number): string {
  return components === 1 ? rule : `${rule}/${component}`;
}

export function fixedMetric(part: string): string {
  return `fixed:${part}`;
}

export function listScope(part: string): ListScope {
  return `list:${part}`;
}

/**
 * Returns an SQL condition: the column names a metric that is derived from the bill or the configuration, not gathered.
 */
export function isDerivedMetric(column: string): string {
  return `match(${column}, '^(cost($|@|/)|fixed:)')`;
}
