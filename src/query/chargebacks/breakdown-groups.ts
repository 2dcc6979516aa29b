/** SQL for the groups of a breakdown, and for the totals over all of them. */
import type { Statement } from "../../clickhouse/statement.js";
import { aggregateSource, distinctColumns } from "./aggregate-source.js";
import type { BreakdownInput } from "./breakdown-input.js";
import { isFasterByCodes, rowsByCodes } from "./group-by-codes.js";
import { storable, utcInstant, withNames } from "./scan.js";
import { columnKeys, rowsToSum } from "./sum-source.js";

export type GroupSums = readonly [
  total: string,
  usage: string,
  shared: string,
  rows: string,
  previous: string,
];

export type StoredGroup = readonly [
  currency: string,
  ...sums: GroupSums,
  /** 1 if some row is of a day that misses data. */
  provisional: 0 | 1,
  /** Sums over all groups of the currency, and their number. */
  all: readonly [...sums: GroupSums, groups: string],
  /** Sums over the groups that are not among the rows, and their number. */
  others: readonly [...sums: GroupSums, groups: string],
  /** From 1: the rank in the requested order, and the rank by change; 0 if movers are not requested. */
  place: number,
  mover: number,
  /** Values of the columns, then names for those that have names. */
  ...columnsAndNames: string[],
];

/** Excludes rows between the two periods, which may have a gap. */
const IN_GAP = "timestamp >= {compared_to:DateTime('UTC')} AND timestamp < {now_from:DateTime('UTC')}";

/**
 * Selects `StoredGroup` by currency, then by size: of the sum, or of its difference to the previous period, ignoring
 * the sign. The groups that changed most come from the same sums. The statement may have to be run again
 * (`hasNewValues`).
 */
export function breakdownGroups(input: BreakdownInput): Statement {
  const { window, comparedFrom = window.from, comparedTo = window.from, groupBy, search } = input;
  const wholeWindow = { ...window, from: comparedFrom };
  const wholeSource = aggregateSource({ ...input, window: wholeWindow, timeBucket: "day" });
  const hasGap = comparedTo < window.from;
  const source = hasGap
    ? { ...wholeSource, condition: `${wholeSource.condition} AND NOT (${IN_GAP})` }
    : wholeSource;
  const { columns } = source;
  const groups = columns.map((_, index) => `c${index}`);
  const currency = `c${source.currencyIndex}`;
  const flags = {
    is_now: input.comparedFrom === undefined ? "true" : "timestamp >= {now_from:DateTime('UTC')}",
    of_provisional: "toUInt8(provisional)",
  };
  const rows = isFasterByCodes(source)
    ? rowsByCodes(source, wholeWindow, flags)
    : {
        names: [],
        sql: rowsToSum(source, { ...columnKeys(columns), cost_type: "cost_type", ...flags }),
      };
  const sum = (condition: string) => `sumIf(hi, ${condition}) + sumIf(lo, ${condition})`;
  const requested = columns.slice(0, distinctColumns(groupBy).length);
  const texts = requested.map((column, index) => column.text(`c${index}`));
  const columnNames = columns.flatMap(({ name }, index) => (name === undefined ? [] : [name(`c${index}`)]));
  const size = input.order === "change" ? "total - previous" : "total";
  const matches = [...texts, ...columnNames]
    .map((text) => `positionCaseInsensitiveUTF8(toString(${text}), {search:String}) > 0`)
    .join(" OR ");
  const sums = ["total", "usage", "shared", "rows", "previous"];
  const all = sums.map((name) => `sum(${name}) OVER of_currency AS all_${name}`);
  const others = [
    ...sums.map((name) => `all_${name} - sumIf(${name}, place <= {groups_limit:UInt32}) OVER shown`),
    "all_groups - countIf(place <= {groups_limit:UInt32}) OVER shown",
  ];
  const rankBy = (size: string) =>
    `row_number() OVER (PARTITION BY ${currency} ORDER BY abs(${size}) DESC, ${groups.join(", ")})`;
  const mover = input.movers > 0 ? rankBy("total - previous") : "toUInt64(0)";
  return {
    query: `
${withNames(...source.names, ...source.bucketNames, ...rows.names)}SELECT toString(${currency}), ${sums.map((name) => `toString(${name})`).join(", ")}, is_provisional,
  [${[...sums, "groups"].map((name) => `toString(all_${name})`).join(", ")}],
  [${others.map((each) => `toString(${each})`).join(", ")}], place, mover${[...texts, ...columnNames].map((text) => `, ${text}`).join("")}
FROM (
  SELECT *, ${rankBy(size)} AS place, ${mover} AS mover,
    ${all.join(", ")}, count() OVER of_currency AS all_groups
  FROM (
    SELECT ${groups.join(", ")}, ${sum("is_now")} AS total, ${sum("is_now AND cost_type = 'usage'")} AS usage,
      ${sum("is_now AND cost_type = 'shared'")} AS shared, sumIf(n, is_now) AS rows, ${sum("NOT is_now")} AS previous,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM ${rows.sql}
    GROUP BY ${groups.join(", ")}
  )${search === undefined ? "" : `\n  WHERE ${matches}`}
  WINDOW of_currency AS (PARTITION BY ${currency})
)
WHERE place <= {groups_limit:UInt32}${input.movers > 0 ? " OR mover <= {movers:UInt32}" : ""}
WINDOW shown AS (PARTITION BY ${currency})
ORDER BY ${currency}, place`,
    params: {
      ...source.params,
      ...(search !== undefined && { search }),
      ...(input.comparedFrom !== undefined && { now_from: utcInstant(storable(window).from) }),
      ...(hasGap && { compared_to: utcInstant(storable({ ...window, from: comparedTo }).from) }),
      groups_limit: input.limit,
      ...(input.movers > 0 && { movers: input.movers }),
    },
  };
}
