/**
 * Topics by cost: the largest groups of a period, the sum of the others, and the totals, on request over time, in the
 * form of the breakdown of chargebacks.
 *
 * One statement reads the rows themselves, so it needs no check that two reads saw the same state.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../clickhouse/statement.js";
import { UNATTRIBUTED } from "../../domain/topic-rule.js";
import { withClause } from "../chargebacks/scan.js";
import { displayNames, knownNames, nameSql } from "../inventory/names.js";
import { bucketKey, bucketLabelSql } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import {
  type AttributionGroupColumn,
  attributionGroupColumns,
  attributionSums,
  distinctColumns,
  hasNames,
} from "./aggregate.js";
import { type AttributionFilters, attributionsInWindow } from "./scan.js";

/** Labels of these buckets sort like their days. */
export const topicTimeBuckets = ["day", "week", "month"] as const;

/** Groups can be sorted by these in either direction, and by their columns. */
const sortKeys = {
  total_amount: "total",
  usage_amount: "usage",
  shared_amount: "shared",
  row_count: "n",
} as const;
type SortKey = keyof typeof sortKeys;
export const topicSortNames = Object.keys(sortKeys) as SortKey[];

export interface TopicBreakdownInput {
  readonly window: DateWindow;
  readonly filters: AttributionFilters;
  readonly groupBy: readonly AttributionGroupColumn[];
  /** Returns amounts over time if set. */
  readonly timeBucket?: (typeof topicTimeBuckets)[number] | undefined;
  /** Groups per currency. */
  readonly limit: number;
  /** `amount`: the largest first, whatever its sign. */
  readonly order:
    | "amount"
    | { readonly by: SortKey | AttributionGroupColumn; readonly isDescending: boolean };
  /** Only groups with this text in a value or a name, ignoring case. */
  readonly search?: string | undefined;
}

/** Plain decimals of one currency. */
interface TopicSums {
  readonly currency: string;
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  readonly row_count: number;
  /** One per time bucket; set only with time buckets. */
  readonly amounts?: string[];
}

export interface TopicBreakdown {
  readonly time_buckets: string[];
  /** By currency, then in the requested order. */
  readonly groups: (TopicSums & {
    readonly dimensions: Readonly<Record<string, string>>;
    readonly display_names: Readonly<Record<string, string>>;
    readonly provisional: boolean;
  })[];
  /** Sum of the groups beyond the limit; only for currencies that have some. */
  readonly others: (TopicSums & { readonly group_count: number })[];
  readonly totals: (TopicSums & { readonly group_count: number })[];
}

type StoredSums = readonly [
  currency: string,
  /** The rank of a group, from 1; 0 for the others; -1 for the totals. */
  position: number,
  groups: number,
  total: string,
  usage: string,
  shared: string,
  rows: number,
  provisional: 0 | 1,
  labels: string[],
  amounts: string[],
  /** Values of the columns, then names for those that have names. */
  ...columnsAndNames: string[],
];

/**
 * Selects `StoredSums` by currency, then the totals, the groups in the requested order and the others.
 * `__UNATTRIBUTED__` comes last and does not count for the limit if groups are topics.
 */
export function topicBreakdown(input: TopicBreakdownInput): Statement {
  const { window, filters, timeBucket, limit, order, search } = input;
  const columns = distinctColumns(input);
  const keys = [...columns, "currency" as const].map((name, index) => ({
    sql: attributionGroupColumns[name],
    alias: index === columns.length ? "of_currency" : `c${index}`,
  }));
  const groups = keys.map(({ alias }) => alias).join(", ");
  const { condition, params } = attributionsInWindow(window, filters);
  const bucket = timeBucket && bucketKey(timeBucket, window);
  const label = timeBucket === undefined ? "''" : bucketLabelSql(timeBucket, window.timezone);
  const names = columns.flatMap((name, index) =>
    hasNames(name) ? [{ index, sql: nameSql("resource_name", `c${index}`) }] : [],
  );
  const texts = [...columns.map((_, index) => `toString(c${index})`), ...names.map(({ sql }) => sql)];
  const shown = (index: number) => {
    const name = names.findIndex((each) => each.index === index);
    return name < 0
      ? `t${index}`
      : `if(t${columns.length + name} = '', t${index}, t${columns.length + name})`;
  };
  const orderSql = () => {
    if (order === "amount") return "abs(total) DESC";
    const { by, isDescending } = order;
    const key = isSortKey(by) ? sortKeys[by] : `lowerUTF8(${shown(columns.indexOf(by))})`;
    return `${key} ${isDescending ? "DESC" : "ASC"}`;
  };
  const isNone =
    columns.length === 1 && columns[0] === "topic_name" ? `toString(c0) = '${UNATTRIBUTED}'` : "false";
  const found = texts
    .map((_, index) => `positionCaseInsensitiveUTF8(t${index}, {search:String}) > 0`)
    .join(" OR ");
  return {
    query: `
${withClause(...(names.length === 0 ? [] : knownNames(["resource_name"])))}SELECT toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)) AS nth, count(), toString(sum(total)), toString(sum(usage)),
  toString(sum(shared)), sum(n), max(is_provisional), mapKeys(sumMap(series) AS over_time),
  arrayMap(amount -> toString(amount), mapValues(over_time))${texts.map((_, index) => `, any(t${index})`).join("")}
FROM (
  SELECT *, multiIf(is_none, {groups_limit:UInt32} + 1, rank <= {groups_limit:UInt32}, rank, 0) AS position
  FROM (
    SELECT *, row_number() OVER (PARTITION BY of_currency, is_none ORDER BY ${orderSql()}, ${groups}) AS rank
    FROM (
      SELECT ${groups}, ${isNone} AS is_none, sum(b_total) AS total, sum(b_usage) AS usage, total - usage AS shared,
        sum(b_rows) AS n, max(b_provisional) AS is_provisional, sumMap(map(${label}, b_total)) AS series,
        ${texts.map((text, index) => `${text} AS t${index}`).join(", ")}
      FROM (
        SELECT ${bucket?.sql ?? "0"} AS bucket, ${keys.map(({ sql, alias }) => `${sql} AS ${alias}`).join(", ")}, ${attributionSums("b_total", "b_usage")},
          count() AS b_rows, toUInt8(max(provisional)) AS b_provisional
        FROM topic_attributions
        WHERE ${condition}
        GROUP BY bucket, ${groups}
      )
      GROUP BY ${groups}
    )${search === undefined ? "" : `\n    WHERE ${found}`}
  )
)
GROUP BY GROUPING SETS ((of_currency, position), (of_currency))
ORDER BY of_currency, nth`,
    params: { ...params, ...bucket?.params, groups_limit: limit, ...(search !== undefined && { search }) },
  };
}

export async function readTopicBreakdown(
  client: ClickHouseClient,
  input: TopicBreakdownInput,
  signal?: AbortSignal,
): Promise<TopicBreakdown> {
  const stored = await readTuples<StoredSums>(client, topicBreakdown(input), signal);
  const columns = distinctColumns(input);
  const named = columns.filter(hasNames);
  // The totals have every bucket that any group has.
  const labels =
    input.timeBucket === undefined
      ? []
      : [...new Set(stored.flatMap(([, , , , , , , , each]) => each))].sort();
  const sumsOf = ([currency, , , total, usage, shared, rows, , own, amounts]: StoredSums): TopicSums => ({
    currency,
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    row_count: rows,
    ...(input.timeBucket !== undefined && {
      amounts: labels.map((label) => amounts[own.indexOf(label)] ?? "0"),
    }),
  });
  const counted = (row: StoredSums) => ({ ...sumsOf(row), group_count: row[2] });
  return {
    time_buckets: labels,
    groups: stored
      .filter(([, position]) => position > 0)
      .map((row) => {
        const values = row.slice(FIRST_VALUE).map(String);
        return {
          dimensions: Object.fromEntries(columns.map((name, index) => [name, values[index] ?? ""])),
          display_names: displayNames(columns, named, values),
          ...sumsOf(row),
          provisional: row[7] === 1,
        };
      }),
    others: stored.filter(([, position]) => position === 0).map(counted),
    totals: stored.filter(([, position]) => position === -1).map(counted),
  };
}

/** Index of the first value in a stored row. */
const FIRST_VALUE = 10;

const isSortKey = (by: string): by is SortKey => Object.hasOwn(sortKeys, by);
