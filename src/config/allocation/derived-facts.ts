/**
 * Names of weights that no upstream measures, such as costs and configured shares. They are staged as usage facts and
 * identity sets under these names, so that the allocation statement handles them like measured usage. No ecosystem has
 * metrics with such names.
 */
import { digestOf } from "../../common/digest.js";
import type { ListScope, SetOf } from "../../domain/allocation-rule.js";
import { stepOfStage } from "../../domain/passed-cost.js";

export interface CostWeights {
  /** Column or tag whose value the lines share; undefined: all lines of the currency. */
  readonly within: string | undefined;
  readonly over: "day" | "month";
  /** The stage that weighs by what all stages before it allocated. Undefined: direct charges are the weights. */
  readonly stage: number | undefined;
  /** Names and globs of identities without weight. */
  readonly exclude: readonly string[];
}

/** Prefix of the metrics of allocated costs. `allocate` writes them, after the hash of a day was computed. */
export const ALLOCATED = "allocated/";

/**
 * `cost` for direct charges and `allocated/STAGE` for allocated costs; then `!DIGEST` of the exclusions, `@COLUMN` and
 * `/month`, if the weights have them: `allocated/2@env_id/month`.
 */
export function costMetric({ within, over, stage, exclude }: CostWeights): string {
  const parts = [
    stage === undefined ? "cost" : `${ALLOCATED}${stageName(stage)}`,
    exclude.length === 0 ? "" : `!${digestOf(exclude).slice(0, 8)}`,
    within === undefined ? "" : `@${within}`,
    over === "month" ? "/month" : "",
  ];
  return parts.join("");
}

/** Steps of `pass_on` are calculated after the last stage: `step-1`. */
function stageName(stage: number): string {
  const step = stepOfStage(stage);
  return step > 0 ? `step-${step}` : `${stage}`;
}

/** Costs are never weighed across currencies. */
export function costPlace({ within }: Pick<CostWeights, "within">): SetOf {
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
  return `match(${column}, '^(cost($|[!@/])|${ALLOCATED}|fixed:)')`;
}
