/**
 * What rules by configuration weigh by that no upstream measures: it is staged as usage facts and identity sets of these names, so
 * that the allocation statement finds it as it finds everything else. No ecosystem has metrics of such names.
 */
import type { ListScope, SetOf } from "../allocation-rule.js";

export interface CostWeights {
  /** Column or tag that the lines have in common; undefined: all lines of the currency. */
  readonly within: string | undefined;
  readonly over: "day" | "month";
}

/** `cost`, `cost@COLUMN`, `cost/month`, `cost@COLUMN/month`. */
export function costMetric({ within, over }: CostWeights): string {
  return `cost${within === undefined ? "" : `@${within}`}${over === "month" ? "/month" : ""}`;
}

/** Amounts of two currencies never weigh together. */
export function costPlace({ within }: CostWeights): SetOf {
  return within === undefined ? "currency" : `currency@${within}`;
}

/** A part of a rule, as its name says it: a rule with one component needs no number. */
export function partName(rule: string, component: number, components: number): string {
  return components === 1 ? rule : `${rule}/${component}`;
}

export function fixedMetric(part: string): string {
  return `fixed:${part}`;
}

export function listScope(part: string): ListScope {
  return `list:${part}`;
}

/** Condition in SQL: this column names a metric that is derived from the bill or the configuration, and not gathered. */
export function isDerivedMetric(column: string): string {
  return `match(${column}, '^(cost($|@|/)|fixed:)')`;
}
