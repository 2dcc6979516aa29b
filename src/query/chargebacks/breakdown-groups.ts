/** The groups of a breakdown, and the totals over all of them. */
import type { Statement } from "../../store/clickhouse/statement.js";
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
  /** Some row is of a day that lacks something. */
  provisional: 0 | 1,
  /** Over all groups of the currency: their sums, and how many there are. */
  all: readonly [...sums: GroupSums, groups: string],
  /** The same over those of them that are not among the rows. */
  others: readonly [...sums: GroupSums, groups: string],
  /** From 1: in the order that was asked for, and by change; 0 where nobody asks what changed. */
  place: number,
  mover: number,
  /** Values of the columns, then names of those that have names. */
  ...columnsAndNames: string[],
];

/** The two periods need not touch. */
const BETWEEN = "timestamp >= {compared_to:DateTime('UTC')} AND timestamp < {now_from:DateTime('UTC')}";

/**
 * Rows as `StoredGroup`, by currency, and then by size: of the sum, or of its difference to the period before. The sign does not matter.
 * Those that changed most come from the same sums. The statement may have to be run again (`hasNewValues`).
 */
export function breakdownGroups(input: BreakdownInput): Statement {
  const { window, comparedFrom = window.from, comparedTo = window.from, groupBy, search } = input;
  const whole = { ...window, from: comparedFrom };
  const read = aggregateSource({ ...input, window: whole, timeBucket: "day" });
  const between = comparedTo < window.from;
  const source = between ? { ...read, condition: `${read.condition} AND NOT (${BETWEEN})` } : read;
  const { columns } = source;
  const groups = columns.map((_, index) => `c${index}`);
  const currency = `c${source.currencyAt}`;
  const flags = {
    is_now: input.comparedFrom === undefined ? "true" : "timestamp >= {now_from:DateTime('UTC')}",
    of_provisional: "toUInt8(provisional)",
  };
  const rows = isFasterByCodes(source)
    ? rowsByCodes(source, whole, flags)
    : {
        names: [],
        sql: rowsToSum(source, { ...columnKeys(columns), cost_type: "cost_type", ...flags }),
      };
  const sum = (condition: string) => `sumIf(hi, ${condition}) + sumIf(lo, ${condition})`;
  const asked = columns.slice(0, distinctColumns(groupBy).length);
  const texts = asked.map((column, index) => column.text(`c${index}`));
  const called = columns.flatMap(({ name }, index) => (name === undefined ? [] : [name(`c${index}`)]));
  const size = input.order === "change" ? "total - previous" : "total";
  const found = [...texts, ...called]
    .map((text) => `positionCaseInsensitiveUTF8(toString(${text}), {search:String}) > 0`)
    .join(" OR ");
  const sums = ["total", "usage", "shared", "rows", "previous"];
  const all = sums.map((name) => `sum(${name}) OVER of_currency AS all_${name}`);
  const others = [
    ...sums.map((name) => `all_${name} - sumIf(${name}, place <= {groups_limit:UInt32}) OVER shown`),
    "all_groups - countIf(place <= {groups_limit:UInt32}) OVER shown",
  ];
  const placeBy = (size: string) =>
    `row_number() OVER (PARTITION BY ${currency} ORDER BY abs(${size}) DESC, ${groups.join(", ")})`;
  const mover = input.movers > 0 ? placeBy("total - previous") : "toUInt64(0)";
  return {
    query: `
${withNames(...source.names, ...source.bucketNames, ...rows.names)}SELECT toString(${currency}), ${sums.map((name) => `toString(${name})`).join(", ")}, is_provisional,
  [${[...sums, "groups"].map((name) => `toString(all_${name})`).join(", ")}],
  [${others.map((each) => `toString(${each})`).join(", ")}], place, mover${[...texts, ...called].map((text) => `, ${text}`).join("")}
FROM (
  SELECT *, ${placeBy(size)} AS place, ${mover} AS mover,
    ${all.join(", ")}, count() OVER of_currency AS all_groups
  FROM (
    SELECT ${groups.join(", ")}, ${sum("is_now")} AS total, ${sum("is_now AND cost_type = 'usage'")} AS usage,
      ${sum("is_now AND cost_type = 'shared'")} AS shared, sumIf(n, is_now) AS rows, ${sum("NOT is_now")} AS previous,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM ${rows.sql}
    GROUP BY ${groups.join(", ")}
  )${search === undefined ? "" : `\n  WHERE ${found}`}
  WINDOW of_currency AS (PARTITION BY ${currency})
)
WHERE place <= {groups_limit:UInt32}${input.movers > 0 ? " OR mover <= {movers:UInt32}" : ""}
WINDOW shown AS (PARTITION BY ${currency})
ORDER BY ${currency}, place`,
    params: {
      ...source.params,
      ...(search !== undefined && { search }),
      ...(input.comparedFrom !== undefined && { now_from: utcInstant(storable(window).from) }),
      ...(between && { compared_to: utcInstant(storable({ ...window, from: comparedTo }).from) }),
      groups_limit: input.limit,
      ...(input.movers > 0 && { movers: input.movers }),
    },
  };
}
