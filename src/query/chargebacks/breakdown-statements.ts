/** SQL of a breakdown: its groups with the totals over all of them, and the amounts of its groups over time. */
import type { Statement } from "../../clickhouse/statement.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import type { CostChoice, OtherCost } from "../../domain/other-costs.js";
import { bucketKey, bucketLabelSql, type TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import { isFasterByCodes, rowsByCodes } from "./group-by-codes.js";
import {
  type ChargebackFilters,
  outsideGap,
  rowsInWindow,
  storable,
  summedRows,
  utcInstant,
  withClause,
} from "./scan.js";
import {
  aggregateSource,
  columnKeys,
  distinctColumns,
  type GroupColumn,
  rowsByKeys,
  rowsToSum,
  TEAM,
} from "./summed-rows.js";

export interface BreakdownInput {
  readonly window: DateWindow;
  /** Start of the compared period, in seconds since 1970. */
  readonly comparedFrom?: number | undefined;
  /** End of the compared period; the start of the window by default. */
  readonly comparedTo?: number | undefined;
  readonly filters: ChargebackFilters;
  readonly groupBy: readonly GroupColumn[];
  /** Returns amounts over time if set. */
  readonly timeBucket?: TimeBucket | undefined;
  /** Groups per currency. */
  readonly limit: number;
  readonly order: (typeof sizeOrders)[number] | SortOrder;
  /** How many groups per currency to return that changed most, besides the largest; 0 without a comparison. */
  readonly movers: number;
  /** The cost to sum. Default: the charged one. */
  readonly cost?: CostChoice | undefined;
  /** Only groups with this text in a value or a name, ignoring case. */
  readonly search?: string | undefined;
}

/** Orders by the size of a sum, whatever its sign: the largest first. */
export const sizeOrders = ["amount", "change"] as const;
/** Groups can be sorted by these in either direction, and by their columns. The values are SQL. */
const sortKeys = {
  total_amount: "total",
  previous_amount: "previous",
  change: "total - previous",
  own: "own",
  shared: "shared_among",
  passed: "total - own - shared_among - unallocated",
  unallocated: "unallocated",
  row_count: "rows",
} as const;
export type SortKey = keyof typeof sortKeys;
export const sortNames = Object.keys(sortKeys) as SortKey[];

export interface SortOrder {
  readonly by: SortKey | GroupColumn;
  readonly isDescending: boolean;
}

/** Whether the order needs the sums of the previous period. */
export const isByChange = (order: BreakdownInput["order"]) =>
  order === "change" || (typeof order === "object" && ["change", "previous_amount"].includes(order.by));

export const isSortKey = (by: string): by is SortKey => Object.hasOwn(sortKeys, by);

export type GroupSums = readonly [
  total: string,
  usage: string,
  shared: string,
  rows: string,
  previous: string,
  own: string,
  /** Shared among identities. The plain `shared` also has what no identity was found for. */
  sharedAmong: string,
  unallocated: string,
];

export type StoredGroup = readonly [
  currency: string,
  sums: GroupSums,
  /** 1 if some row is of a day that misses data. */
  provisional: 0 | 1,
  /** The number of groups of the currency, and their sums. */
  all: readonly [groups: string, ...sums: GroupSums],
  /** The number of groups that are not among the rows, and their sums. */
  others: readonly [groups: string, ...sums: GroupSums],
  /** From 1: the rank in the requested order, and the rank by change; 0 if movers are not requested. */
  rank: number,
  moverRank: number,
  /** Values of the columns, then names for those that have names. */
  ...columnsAndNames: string[],
];

/**
 * Selects `StoredGroup` by currency, then in the requested order. UNALLOCATED comes last and does not count for the
 * limit if it is one group. The groups that changed most come from the same sums. The statement may have to be run
 * again (`hasNewValues`).
 */
export function breakdownGroups(input: BreakdownInput): Statement {
  const { window, comparedFrom = window.from, comparedTo = window.from, groupBy, search } = input;
  const wholeWindow = { ...window, from: comparedFrom };
  const wholeSource = aggregateSource({ ...input, window: wholeWindow, timeBucket: "day" });
  const gap = outsideGap(window, comparedTo);
  const source = { ...wholeSource, condition: `${wholeSource.condition}${gap.condition}` };
  const { columns } = source;
  const groups = columns.map((_, index) => `c${index}`);
  const currency = `c${source.currencyIndex}`;
  const flags = {
    is_now: input.comparedFrom === undefined ? "true" : "timestamp >= {now_from:DateTime('UTC')}",
    of_provisional: "toUInt8(provisional)",
    of_nobody: source.rows.ofNobody,
  };
  const rows = isFasterByCodes(source)
    ? rowsByCodes(source, wholeWindow, flags)
    : {
        withClauses: [],
        sql: rowsToSum(source, { ...columnKeys(columns), cost_type: "cost_type", ...flags }),
      };
  const sum = (condition: string) => `sumIf(hi, ${condition}) + sumIf(lo, ${condition})`;
  const requested = columns.slice(0, distinctColumns(groupBy).length);
  const texts = requested.map((column, index) => column.text(`c${index}`));
  const columnNames = columns.flatMap(({ name }, index) => (name === undefined ? [] : [name(`c${index}`)]));
  const matches = [...texts, ...columnNames]
    .map((text) => `positionCaseInsensitiveUTF8(toString(${text}), {search:String}) > 0`)
    .join(" OR ");
  const sums = ["total", "usage", "shared", "rows", "previous", "own", "shared_among", "unallocated"];
  const all = sums.map((name) => `sum(${name}) OVER of_currency AS all_${name}`);
  const others = [
    "all_groups - countIf(rank <= {groups_limit:UInt32}) OVER shown",
    ...sums.map((name) => `all_${name} - sumIf(${name}, rank <= {groups_limit:UInt32}) OVER shown`),
  ];
  const rankBy = (order: string, apart = "") =>
    `row_number() OVER (PARTITION BY ${currency}${apart} ORDER BY ${order}, ${groups.join(", ")})`;
  const shownTexts = requested.map(({ name, text }, index) =>
    name === undefined
      ? `toString(${text(`c${index}`)})`
      : `if(${name(`c${index}`)} = '', toString(${text(`c${index}`)}), ${name(`c${index}`)})`,
  );
  const orderSql = (order: BreakdownInput["order"]): string => {
    if (order === "amount") return "abs(total) DESC";
    if (order === "change") return "abs(total - previous) DESC";
    const { by, isDescending } = order;
    const key = isSortKey(by)
      ? sortKeys[by]
      : `lowerUTF8(${shownTexts[distinctColumns(groupBy).indexOf(by)] ?? "''"})`;
    return `${key} ${isDescending ? "DESC" : "ASC"}`;
  };
  const nobody = isOfIdentities(groupBy) ? `toString(${texts[0]}) = '${UNALLOCATED}'` : "false";
  const mover = input.movers > 0 ? rankBy(orderSql("change")) : "toUInt64(0)";
  return {
    query: `
${withClause(...source.withClauses, ...source.displayNameClauses, ...rows.withClauses)}SELECT toString(${currency}), [${sums.map((name) => `toString(${name})`).join(", ")}], is_provisional,
  [${["groups", ...sums].map((name) => `toString(all_${name})`).join(", ")}],
  [${others.map((each) => `toString(${each})`).join(", ")}], rank, mover${[...texts, ...columnNames].map((text) => `, ${text}`).join("")}
FROM (
  SELECT *, ${nobody} AS is_nobody, ${rankBy(orderSql(input.order), ", is_nobody")} AS rank, ${mover} AS mover,
    ${all.join(", ")}, count() OVER of_currency AS all_groups
  FROM (
    SELECT ${groups.join(", ")}, ${sum("is_now")} AS total, ${sum("is_now AND cost_type = 'usage'")} AS usage,
      ${sum("is_now AND cost_type = 'shared'")} AS shared, sumIf(n, is_now) AS rows, ${sum("NOT is_now")} AS previous,
      ${sum("is_now AND cost_type = 'usage' AND NOT of_nobody")} AS own, ${sum("is_now AND cost_type = 'shared' AND NOT of_nobody")} AS shared_among,
      ${sum("is_now AND of_nobody")} AS unallocated,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM ${rows.sql}
    GROUP BY ${groups.join(", ")}
  )${search === undefined ? "" : `\n  WHERE ${matches}`}
  WINDOW of_currency AS (PARTITION BY ${currency})
)
WHERE rank <= {groups_limit:UInt32}${input.movers > 0 ? " OR mover <= {movers:UInt32}" : ""}
WINDOW shown AS (PARTITION BY ${currency})
ORDER BY ${currency}, is_nobody, rank`,
    params: {
      ...source.params,
      ...(search !== undefined && { search }),
      ...(input.comparedFrom !== undefined && { now_from: utcInstant(storable(window).from) }),
      ...gap.params,
      groups_limit: input.limit,
      ...(input.movers > 0 && { movers: input.movers }),
    },
  };
}

/**
 * Selects the first day of the periods whose chargebacks lack the requested cost, or null: an earlier version allocated
 * it. The chargebacks of a day all have it, or none.
 */
export function firstDayWithoutCost(input: BreakdownInput, cost: OtherCost): Statement {
  const { window, comparedFrom = window.from, comparedTo = window.from } = input;
  const { condition, params } = rowsInWindow({ ...window, from: comparedFrom });
  const gap = outsideGap(window, comparedTo);
  const { from } = summedRows(["timestamp"]);
  return {
    query: `SELECT toString(minOrNull(day)) AS first FROM ${from} WHERE ${condition}${gap.condition} AND isNull(${cost})`,
    params: { ...params, ...gap.params },
  };
}

/** Whether each group is an identity or a team, so that UNALLOCATED is one of the groups. */
export function isOfIdentities(groupBy: readonly GroupColumn[]): boolean {
  const [column, ...others] = distinctColumns(groupBy);
  return others.length === 0 && (column === "identity_id" || column === TEAM);
}

export type StoredAmount = readonly [
  /** Empty for the sums over all time. */
  label: string,
  currency: string,
  /** Position among the wanted combinations, from 1; 0 for all others; -1 for the sum over all. */
  position: number,
  amount: string,
];

/**
 * Selects `StoredAmount` by time. `wanted` lists distinct combinations of values of the columns that are grouped by.
 *
 * A row is matched by numbers: the position of each column's value among the wanted ones, as the digits of one number.
 * Columns are dictionaries, so a row costs one look-up in a small table, however many combinations are wanted.
 */
export function breakdownSeries(
  input: BreakdownInput & { readonly timeBucket: TimeBucket },
  wanted: readonly (readonly string[])[],
): Statement {
  const { window, timeBucket } = input;
  const source = aggregateSource(input);
  const bucket = bucketKey(timeBucket, window);
  const values = (wanted[0] ?? []).map((_, index) => [
    ...new Set(wanted.map((combination) => combination[index] ?? "")),
  ]);
  // Digit 0 is a value that is not wanted.
  const radix = values.map(({ length }) => length + 1);
  const numberOf = (digits: readonly number[]) =>
    digits.reduce((number, digit, index) => number * (radix[index] ?? 1) + digit, 0);
  const numbers = wanted.map((combination) =>
    numberOf(combination.map((value, index) => (values[index] ?? []).indexOf(value) + 1)),
  );
  const digits = values.map((_, index) => {
    const column = source.columns[index];
    const text = column === undefined ? "''" : column.text(column.key);
    return `transform(${text}, {values_${index}:Array(String)}, arrayEnumerate({values_${index}:Array(String)}), 0)`;
  });
  const number = digits.reduce((before, next, index) => `(${before}) * ${radix[index]} + ${next}`);
  const currency = source.columns[source.currencyIndex]?.key ?? "currency";
  const rows = rowsByKeys(
    source,
    {
      bucket: bucket.sql,
      of_currency: currency,
      position: `transform(toUInt64(${number}), {numbers:Array(UInt64)}, {positions:Array(UInt32)}, toUInt32(0))`,
    },
    "sum(amount_hi) AS hi, sum(amount_lo) AS lo",
  );
  return {
    query: `
${withClause(...source.withClauses)}SELECT if(grouping(bucket) = 1, '', ${bucketLabelSql(timeBucket, window.timezone)}) AS label, toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)), toString(sum(hi) + sum(lo))
FROM ${rows}
GROUP BY GROUPING SETS ((bucket, of_currency, position), (bucket, of_currency), (of_currency))
ORDER BY grouping(bucket), bucket, of_currency`,
    params: {
      ...source.params,
      ...bucket.params,
      ...Object.fromEntries(values.map((texts, index) => [`values_${index}`, texts])),
      numbers,
      positions: numbers.map((_, index) => index + 1),
    },
  };
}
