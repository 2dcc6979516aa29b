/**
 * Statements that sum up what rules took in a period: lines and amounts of the bill, and how rows were allocated, by
 * rule, product type and currency.
 */
import type { Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import {
  type AllocationDetail,
  type AllocationMethod,
  LAST_STAGE,
  UNALLOCATED,
} from "../../domain/allocation-rule.js";
import { asRuleGaveSql } from "../../domain/passed-cost.js";
import { rowsInWindow } from "../chargebacks/scan.js";

/** The most product types that are listed for lines without a configured rule; the others are summed. */
export const MOST_PRODUCT_TYPES = 500;

/** `amount` is a plain decimal of one currency. */
export interface MatchRow {
  /** Empty for the rule of the product type. */
  readonly rule: string;
  /** Empty if a configured rule took the lines, and if product types are summed. */
  readonly product_type: string;
  readonly currency: string;
  readonly is_rest: boolean;
  /** Number of product types that are summed; 0 for other rows. */
  readonly product_types: number;
  readonly lines: number;
  readonly amount: string;
}

/**
 * A product type is listed for all its currencies if it is among the largest of one. Amounts are compared without their
 * sign, so that a large refund is listed as well.
 */
export function lineMatches(window: InstantRange): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT rule, if(is_rest, '', product_type) AS product_type, currency, is_rest, if(is_rest, uniqExact(product), 0) AS product_types,
  sum(taken) AS lines, toString(sum(cost)) AS amount
FROM (
  SELECT *, rule = '' AND min(place) OVER (PARTITION BY rule, product) > {most:UInt32} AS is_rest, product AS product_type
  FROM (
    SELECT *, row_number() OVER (PARTITION BY rule, currency ORDER BY abs(cost) DESC, product) AS place
    FROM (
      SELECT toString(rule) AS rule, if(rule = '', toString(product_type), '') AS product, toString(currency) AS currency,
        count() AS taken, sum(total_cost) AS cost
      FROM published_billing WHERE ${condition} GROUP BY rule, product, currency
    )
  )
)
GROUP BY rule, product_type, currency, is_rest
ORDER BY is_rest, currency, abs(sum(cost)) DESC, rule, product_type`,
    params: { ...params, most: MOST_PRODUCT_TYPES },
  };
}

export interface TierRow {
  readonly rule: string;
  readonly product_type: string;
  readonly currency: string;
  readonly component: number;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly rows: number;
  readonly amount: string;
}

/** Selects tiers of all configured rules, and of the rules of these product types. */
export function tierMatches(window: InstantRange, productTypes: readonly string[]): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT toString(rule) AS rule, if(rule = '', toString(chargebacks.product_type), '') AS product_type, toString(currency) AS currency, component,
  ${asRuleGaveSql("tier", "toUInt8")} AS tier, ${asRuleGaveSql("allocation_method")} AS allocation_method,
  ${asRuleGaveSql("allocation_detail")} AS allocation_detail, count() AS rows,
  toString(sum(amount_hi) + sum(amount_lo)) AS amount
FROM chargebacks
WHERE ${condition} AND (chargebacks.rule != '' OR chargebacks.product_type IN {product_types:Array(String)})
GROUP BY ALL
ORDER BY currency, rule, product_type, component, tier, allocation_method, allocation_detail`,
    params: { ...params, product_types: productTypes },
  };
}

/** An amount that a rule split by narrow weights: those of few costs. */
export interface NarrowRow {
  readonly rule: string;
  readonly currency: string;
  readonly amount: string;
  /** Cost of the weights, as a share of the cost that was allocated on their days. */
  readonly covered: string;
}

/** Weights that cover a smaller share of the cost that was allocated on a day are narrow. */
const NARROW = 0.1;

/**
 * Selects what configured rules split by narrow weights. Weights of a month are compared with the cost of the month up
 * to the day. Weights within a column are left out, because they are meant to cover a part of the cost.
 */
export function narrowWeights(window: InstantRange): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
WITH
  split AS (
    SELECT day, toString(rule) AS rule, toString(currency) AS currency, ${asRuleGaveSql("metric")} AS metric, abs(sum(amount_hi) + sum(amount_lo)) AS amount
    FROM chargebacks WHERE ${condition} AND rule != '' AND ${asRuleGaveSql("allocation_method")} = 'cost_ratio' AND position(metric, '@') = 0
    GROUP BY day, rule, currency, metric
  ),
  weights AS (
    SELECT day, toString(usage.metric) AS metric, splitByChar(':', toString(resource_id))[1] AS currency, sum(toFloat64(micro_units) / exp10(6 + scale)) AS weight
    FROM usage WHERE (day, metric) IN (SELECT day, metric FROM split)
    GROUP BY day, metric, currency
  ),
  costs AS (
    SELECT day, currency, day_cost, sum(day_cost) OVER (PARTITION BY currency, toStartOfMonth(day) ORDER BY day) AS month_cost
    FROM (
      SELECT day, toString(currency) AS currency, toFloat64(sum(amount_hi) + sum(amount_lo)) AS day_cost
      FROM published_sums_by_identity
      WHERE identity_id != '${UNALLOCATED}' AND day >= (SELECT toStartOfMonth(min(day)) FROM split) AND day <= (SELECT max(day) FROM split)
      GROUP BY day, currency
    )
  )
SELECT rule, currency, toString(sum(amount)) AS amount, toString(round(sum(weight) / sum(cost), 4)) AS covered
FROM (
  SELECT rule, currency, amount, weight, if(endsWith(metric, '/month'), month_cost, day_cost) AS cost
  FROM split INNER JOIN weights USING (day, metric, currency) INNER JOIN costs USING (day, currency)
)
WHERE cost > 0 AND weight < cost * ${NARROW}
GROUP BY rule, currency`,
    params,
  };
}

/** An amount that a step passed on. */
export interface StepRow {
  /** Name of the step. */
  readonly name: string;
  readonly currency: string;
  readonly rows: number;
  readonly amount: string;
}

/** Selects what each step passed on. A cost that two steps passed on counts for both. */
export function stepMatches(window: InstantRange): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT name, currency, sum(n) AS rows, toString(sum(cost)) AS amount
FROM (
  SELECT rules_hash, toUInt8(arrayJoin(passed_path.step) + ${LAST_STAGE}) AS stage, toString(currency) AS currency,
    count() AS n, sum(amount_hi) + sum(amount_lo) AS cost
  FROM chargebacks WHERE ${condition} AND passed_from != ''
  GROUP BY rules_hash, stage, currency
) AS passed
INNER JOIN (
  SELECT DISTINCT rules_hash, stage, splitByChar('/', toString(rule))[2] AS name FROM allocation_rules WHERE stage > ${LAST_STAGE}
) AS steps USING (rules_hash, stage)
GROUP BY name, currency
ORDER BY name, currency`,
    params,
  };
}
