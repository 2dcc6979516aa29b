/**
 * A breakdown as SQL text over the views for BI tools: the same groups with the same sums, for users who query the
 * store directly. People read and change it, so it uses the columns of the views, without the optimizations of the
 * service's own statements.
 */
import { literal } from "../../clickhouse/sql-text.js";
import type { Params } from "../../clickhouse/statement.js";
import { DAY_SECONDS, dayOfSeconds, type InstantRange } from "../../common/days.js";
import {
  isLineTagColumn,
  isTagColumn,
  type LineTagColumn,
  type TagColumn,
  type TagFilter,
  tagKey,
  UNTAGGED,
} from "../tags/filter.js";
import { bucketKey, bucketLabelSql } from "../time/bucket.js";
import { InvalidParameterError } from "../time/date-window.js";
import { valueFilters } from "../value-filters.js";
import type { BreakdownInput } from "./breakdown-statements.js";
import { type ChargebackFilters, lineTagSql, storable, utcInstant } from "./scan.js";
import { distinctColumns, type GroupColumn, groupColumns, TEAM } from "./summed-rows.js";

/** Throws InvalidParameterError for a request that one statement cannot express. */
export function breakdownSql(input: BreakdownInput): string {
  const { window, comparedFrom, groupBy, timeBucket, order } = input;
  if (timeBucket !== undefined && comparedFrom !== undefined && order !== "change")
    throw new InvalidParameterError(
      "compare",
      "`compare` and `time_bucket` cannot be combined in SQL: time buckets have no period before. Leave one of them out.",
    );
  const grouped = distinctColumns([...groupBy, "currency"]);
  const columns = grouped.map(columnOf);
  const groups = groupsOf({ ...input, grouped, columns });
  if (timeBucket === undefined) return text(groups);
  const names = columns.map(({ name }) => name);
  const bucket = bucketKey(timeBucket, window);
  return text({
    with: [
      `largest AS (\n${text({ ...groups, select: columns.map(selected), indent: "  " })})`,
      ...columns.flatMap(({ lookup }) => lookup ?? []),
      `${inlined(bucket.sql, bucket.params)} AS bucket`,
    ],
    select: [
      `${inlined(bucketLabelSql(timeBucket, window.timezone), bucket.params)} AS time_bucket`,
      ...columns.map(selected),
      ...sumsOf(undefined),
    ],
    where: [
      ...conditionsOf({ ...input, window }),
      `(${names.join(", ")}) IN (SELECT ${names.join(", ")} FROM largest)`,
    ],
    groupBy: ["bucket", ...names],
    orderBy: ["currency", "bucket", ...names.filter((name) => name !== "currency")],
  });
}

interface Column {
  /** Name in the result. */
  readonly name: string;
  readonly sql: string;
  /** Expression that the column needs after WITH. */
  readonly lookup?: string;
}

function columnOf(column: GroupColumn, index: number): Column {
  if (isLineTagColumn(column))
    return { name: tagName(column, index), sql: lineTagSql(inLine(tagKey(column))) };
  if (!isTagColumn(column)) return { name: column, sql: column };
  const lookup = `tagged_${index + 1}`;
  return {
    name: tagName(column, index),
    sql: `transform(dimension_id, ${lookup}.1, ${lookup}.2, '${UNTAGGED}')`,
    lookup: `(SELECT (groupArray(dimension_id), groupArray(display_name)) FROM tags WHERE tag_key = ${inLine(tagKey(column))}) AS ${lookup}`,
  };
}

/** Returns `tag:KEY`, unless a quoted name would have to escape the key. */
function tagName(column: TagColumn | LineTagColumn, index: number): string {
  return /[\\`"']/.test(column) ? `tag_${index + 1}` : `\`${column}\``;
}

const selected = ({ name, sql }: Column) => (name === sql ? name : `${sql} AS ${name}`);

interface GroupsInput extends BreakdownInput {
  readonly grouped: readonly GroupColumn[];
  readonly columns: readonly Column[];
}

function groupsOf(input: GroupsInput): SqlParts {
  const { window, comparedFrom = window.from, comparedTo = window.from, limit, order, columns } = input;
  const isCompared = input.comparedFrom !== undefined;
  const names = columns.map(({ name }) => name);
  const startOf = (from: number) => instant(storable({ ...window, from }).from);
  const now = isCompared ? `timestamp >= ${startOf(window.from)}` : undefined;
  // A list of groups alone has no names for the sums.
  const [total, before] = [totalOf(now), now === undefined ? "" : totalOf(`NOT (${now})`)];
  const size = order === "change" && isCompared ? `${total} - ${before}` : total;
  return {
    with: columns.flatMap(({ lookup }) => lookup ?? []),
    select: [
      ...columns.map(selected),
      ...sumsOf(now),
      ...(isCompared ? [`${before} AS previous_amount`] : []),
    ],
    where: [
      ...conditionsOf({ ...input, window: { ...window, from: comparedFrom } }),
      ...(comparedTo < window.from
        ? [`NOT (timestamp >= ${startOf(comparedTo)} AND timestamp < ${startOf(window.from)})`]
        : []),
    ],
    groupBy: names,
    orderBy: ["currency", `abs(${size}) DESC`, ...names.filter((name) => name !== "currency")],
    limit: `${limit} BY currency`,
  };
}

const totalOf = (condition: string | undefined) =>
  condition === undefined ? "sum(amount)" : `sumIf(amount, ${condition})`;

/** Sums rows that meet the condition, or all. */
function sumsOf(condition: string | undefined): string[] {
  const and = condition === undefined ? "" : `${condition} AND `;
  return [
    `${totalOf(condition)} AS total_amount`,
    `sumIf(amount, ${and}cost_type = 'usage') AS usage_amount`,
    `sumIf(amount, ${and}cost_type = 'shared') AS shared_amount`,
    `sumIf(amount, ${and}cost_type = 'passed') AS passed_amount`,
    `${condition === undefined ? "count()" : `countIf(${condition})`} AS row_count`,
    `${condition === undefined ? "max(is_provisional)" : `maxIf(is_provisional, ${condition})`} AS provisional`,
  ];
}

interface ConditionsInput {
  readonly window: InstantRange;
  readonly filters: ChargebackFilters;
  readonly search?: string | undefined;
  readonly groupBy: readonly GroupColumn[];
}

function conditionsOf({ window, filters, search, groupBy }: ConditionsInput): string[] {
  return [
    ...inWindow(window),
    ...valueFilters(filterNames, filters).map(
      ({ name, isExcluding, values }) => `${name} ${isExcluding ? "NOT IN" : "IN"} ${list(values)}`,
    ),
    ...(filters.tags ?? []).map(hasTag),
    ...(search === undefined ? [] : [hasText(groupBy, search)]),
  ];
}

const filterNames = [...(Object.keys(groupColumns) as (keyof typeof groupColumns)[]), TEAM] as const;

/**
 * Filters by day, which the store is partitioned by, and by instant if the window does not begin and end with a UTC
 * day.
 */
function inWindow(window: InstantRange): string[] {
  const { from, to } = storable(window);
  if (from >= to) return ["false"];
  return [
    `date >= '${dayOfSeconds(from)}'`,
    `date <= '${dayOfSeconds(to - 1)}'`,
    ...(from % DAY_SECONDS === 0 ? [] : [`timestamp >= ${instant(from)}`]),
    ...(to % DAY_SECONDS === 0 ? [] : [`timestamp < ${instant(to)}`]),
  ];
}

function hasTag({ key, displayNames: names, isExcluding = false, isOfLine = false }: TagFilter): string {
  if (isOfLine) return `${lineTagSql(inLine(key))} ${isExcluding ? "NOT IN" : "IN"} ${list(names)}`;
  const tagged = (more: string) => `(SELECT dimension_id FROM tags WHERE tag_key = ${inLine(key)}${more})`;
  const named = `dimension_id IN ${tagged(` AND display_name IN ${list(names)}`)}`;
  const found = names.includes(UNTAGGED) ? `(${named} OR dimension_id NOT IN ${tagged("")})` : named;
  return isExcluding ? `NOT ${found}` : found;
}

/** Searches a group's values and their names. */
function hasText(groupBy: readonly GroupColumn[], search: string): string {
  const has = (sql: string) => `positionCaseInsensitiveUTF8(toString(${sql}), ${inLine(search)}) > 0`;
  const found = distinctColumns(groupBy).flatMap((column, index) => {
    const value = has(columnOf(column, index).sql);
    if (column === "identity_id") return [value, has("identity_name")];
    if (column === "resource_id") return [value, has("resource_name")];
    if (column === "environment_id")
      return [value, `environment_id IN (SELECT resource_id FROM resources WHERE ${has("resource_name")})`];
    return [value];
  });
  return `(${found.join(" OR ")})`;
}

interface SqlParts {
  readonly with: readonly string[];
  readonly select: readonly string[];
  readonly where: readonly string[];
  readonly groupBy: readonly string[];
  readonly orderBy: readonly string[];
  readonly limit?: string;
  readonly indent?: string;
}

function text({ with: names, select, where, groupBy, orderBy, limit, indent = "" }: SqlParts): string {
  const lines = [
    ...(names.length === 0 ? [] : ["WITH", `  ${names.join(",\n  ")}`]),
    "SELECT",
    `  ${select.join(",\n  ")}`,
    "FROM chargeback_details",
    `WHERE ${where.join("\n  AND ")}`,
    `GROUP BY ${groupBy.join(", ")}`,
    `ORDER BY ${orderBy.join(", ")}`,
    ...(limit === undefined ? [] : [`LIMIT ${limit}`]),
  ];
  return lines.map((line) => `${line.replaceAll(/^/gm, indent)}\n`).join("");
}

const instant = (seconds: number) => `toDateTime('${utcInstant(seconds)}', 'UTC')`;

/** Writes the value without line breaks, so that the text can be indented line by line. */
function inLine(value: string): string {
  const letters = [...literal(value)].map((character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, "0")}` : character;
  });
  return letters.join("");
}

const list = (values: readonly string[]) => `(${values.map(inLine).join(", ")})`;

/** Replaces `{name:Type}` by values. */
function inlined(sql: string, params: Params): string {
  return sql.replaceAll(/\{(\w+):[^}]+\}/g, (_, name: string) => {
    const value = params[name];
    return typeof value === "string" ? inLine(value) : JSON.stringify(value);
  });
}
