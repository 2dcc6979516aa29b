/**
 * SQL that breaks the change of a sum of chargebacks into causes, as docs/decisions/0067-causes-of-a-change.md defines
 * them. Lines are matched between both periods by the columns of `keyColumns`.
 */
import type { Statement } from "../../clickhouse/statement.js";
import type { DateWindow } from "../time/date-window.js";
import { valueConditions } from "../value-filters.js";
import {
  type ChargebackFilters,
  outsideGap,
  rowsInWindow,
  storable,
  utcInstant,
  withClause,
} from "./scan.js";
import { aggregateSource, columnKeys, distinctColumns, type GroupColumn, rowsToSum } from "./summed-rows.js";

export interface ChangeInput {
  readonly window: DateWindow;
  /** The previous period, in seconds since 1970. It ends at or before the start of the window. */
  readonly comparedFrom: number;
  readonly comparedTo: number;
  readonly filters: ChargebackFilters;
  readonly groupBy: readonly GroupColumn[];
  /** Groups per currency. */
  readonly limit: number;
}

/** What the bill states a quantity and a price of: groups, and their columns in the store. */
const keyColumns = {
  resource_id: "resource_id",
  product_type: "product_type",
  product_category: "product_category",
  environment_id: "env_id",
  sku_id: "sku_id",
  charge_category: "charge_category",
  currency: "currency",
} as const;
const keyNames = Object.keys(keyColumns) as (keyof typeof keyColumns)[];

/** Sums of a group, in units of 1e-12. The rest of the change is the cause `other`. */
export const changeSums = ["now", "before", "quantity", "price", "share", "new", "gone"] as const;

export type StoredChange = readonly [
  currency: string,
  /** As `changeSums`, of the group and of all groups of its currency. */
  sums: readonly string[],
  all: readonly string[],
  /** The number of groups of the currency. */
  groups: number,
  /** What the bill has of the group: quantity and cost, now and before. Empty if it is of several keys. */
  bill: readonly string[],
  unit: string,
  ...columnsAndNames: string[],
];

/**
 * The unit of a line's quantity; empty if the bill does not state it. The engine evaluates only the branches that it
 * needs.
 */
const UNIT = ["unit", "ConsumedUnit"].reduceRight((otherwise, name) => {
  const named = `JSONExtractString(metadata, '${name}')`;
  return `if(${named} != '', ${named}, ${otherwise})`;
}, "JSONExtractString(metadata, 'PricingUnit')");

const ticks = (decimal: string) => `toInt256((${decimal}) * toDecimal256('1000000000000', 0))`;

/** Selects `StoredChange` by currency, the largest change first. */
export function changeGroups(input: ChangeInput): Statement {
  const { window, comparedFrom, comparedTo, filters, groupBy, limit } = input;
  const whole = { ...window, from: comparedFrom };
  const source = aggregateSource({
    window: whole,
    filters,
    groupBy: [...groupBy, ...keyNames],
    timeBucket: "day",
  });
  const { columns } = source;
  const grouped = distinctColumns([...groupBy, ...keyNames]);
  const requested = columns.slice(0, distinctColumns(groupBy).length);
  const keyAt = (name: GroupColumn) => `c${grouped.indexOf(name)}`;
  const currency = keyAt("currency");
  const all = columns.map((_, index) => `c${index}`);
  const groups = [...new Set([...requested.map((_, index) => `c${index}`), currency])].join(", ");
  const gap = outsideGap(window, comparedTo);
  const isNow = "timestamp >= {now_from:DateTime('UTC')}";
  const inPeriods = (condition: string) => `${condition}${gap.condition}`;
  const keyFilter = valueConditions(keyColumns, filters);
  const inWindow = rowsInWindow(whole);
  const joined = keyNames.map((name, index) => `${keyAt(name)} = k${index}`).join(" AND ");
  const names = requested.flatMap(({ name }, index) => (name === undefined ? [] : [name(`c${index}`)]));
  const texts = [...requested.map(({ text }, index) => text(`c${index}`)), ...names];
  const strings = (of: readonly string[]) => `[${of.map((each) => `toString(${each})`).join(", ")}]`;
  return {
    query: `
${withClause(...source.withClauses, ...source.displayNameClauses)}SELECT toString(${currency}), ${strings(changeSums)}, ${strings(changeSums.map((name) => `all_${name}`))}, all_groups,
  if(key_count = 1, bill, []), if(key_count = 1, unit, '')${texts.map((text) => `, ${text}`).join("")}
FROM (
  SELECT *, ${changeSums.map((name) => `sum(${name}) OVER of_currency AS all_${name}`).join(", ")}, count() OVER of_currency AS all_groups,
    row_number() OVER (PARTITION BY ${currency} ORDER BY abs(now - before) DESC, ${groups}) AS rank
  FROM (
    SELECT ${groups}, sum(charged_now) AS now, sum(charged_before) AS before,
      sum(by_quantity) AS quantity, sum(by_cost - by_quantity) AS price, sumIf(charged_now - charged_before - by_line, is_priced) AS share,
      sumIf(charged_now, lines_before = 0 AND lines_now > 0) AS new, -sumIf(charged_before, lines_now = 0 AND lines_before > 0) AS gone,
      count() AS key_count, any(of_bill) AS bill, any(of_unit) AS unit
    FROM (
      SELECT *, lines_before > 0 AND lines_now > 0 AND is_one_sign AND cost_before != 0 AS is_priced,
        is_priced AND quantity_before > 0 AND quantity_now > 0 AND is_one_unit AS is_measured,
        if(is_priced, intDiv(charged_before * ${ticks("cost_now - cost_before")}, if(is_priced, ${ticks("cost_before")}, toInt256(1))), toInt256(0)) AS by_line,
        if(is_measured, by_line, toInt256(0)) AS by_cost,
        if(is_measured, intDiv(charged_before * ${ticks("quantity_now - quantity_before")}, if(is_measured, ${ticks("quantity_before")}, toInt256(1))), toInt256(0)) AS by_quantity
      FROM (
        SELECT ${all.join(", ")}, ${ticks("sumIf(hi, is_now) + sumIf(lo, is_now)")} AS charged_now, ${ticks("sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now)")} AS charged_before
        FROM ${rowsToSum({ ...source, condition: inPeriods(source.condition) }, { ...columnKeys(columns), is_now: isNow })}
        GROUP BY ${all.join(", ")}
      ) AS charged
      LEFT JOIN (
        SELECT ${keyNames.map((name, index) => `${keyColumns[name]} AS k${index}`).join(", ")},
          countIf(NOT is_now) AS lines_before, countIf(is_now) AS lines_now,
          sumIf(total_cost, NOT is_now) AS cost_before, sumIf(total_cost, is_now) AS cost_now,
          sumIf(quantity, NOT is_now) AS quantity_before, sumIf(quantity, is_now) AS quantity_now,
          sumIf(abs(total_cost), NOT is_now) = abs(cost_before) AS is_one_sign,
          min(line_unit) = max(line_unit) AS is_one_unit, if(is_one_unit, any(line_unit), '') AS of_unit,
          ${strings(["quantity_now", "quantity_before", "cost_now", "cost_before"])} AS of_bill
        FROM (
          SELECT *, ${isNow} AS is_now, ${UNIT} AS line_unit
          FROM published_billing
          WHERE ${inPeriods(inWindow.condition)}${keyFilter.condition}
        )
        GROUP BY ${keyNames.map((_, index) => `k${index}`).join(", ")}
      ) AS billed ON ${joined}
    )
    GROUP BY ${groups}
  )
  WINDOW of_currency AS (PARTITION BY ${currency})
)
WHERE rank <= {groups_limit:UInt32}
ORDER BY ${currency}, rank`,
    params: {
      ...source.params,
      ...keyFilter.params,
      now_from: utcInstant(storable(window).from),
      ...gap.params,
      groups_limit: limit,
    },
  };
}
