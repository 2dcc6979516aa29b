/**
 * A breakdown as SQL text over the views for BI tools: the same groups with the same sums, for users who query the
 * store directly. People read and change it, so it uses the columns of the views, without the optimizations of the
 * service's own statements.
 */
import { literal } from "../../clickhouse/sql-text.js";
import type { Params } from "../../clickhouse/statement.js";
import { DAY_SECONDS, dayOfSeconds, type InstantRange } from "../../common/days.js";
import { splitNames } from "../../common/name-list.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { causeColumns } from "../../domain/issue-cause.js";
import { costColumns } from "../../domain/other-costs.js";
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
import {
  type BreakdownInput,
  isByChange,
  isOfIdentities,
  isSortKey,
  type SortKey,
} from "./breakdown-statements.js";
import { type ChargebackFilters, lineTagSql, storable, utcInstant } from "./scan.js";
import { distinctColumns, type GroupColumn, groupColumns, TEAM } from "./summed-rows.js";

/** Throws InvalidParameterError for a request that one statement cannot express. */
export function breakdownSql(input: BreakdownInput): string {
  const { window, comparedFrom, groupBy, timeBucket } = input;
  if (timeBucket !== undefined && comparedFrom !== undefined && !isByChange(input.order))
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
      ...sumsOf(input, undefined),
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
  /** Aggregate with the name that belongs to the column's value, if it has names. */
  readonly named?: string;
}

/** Looks up the name of an environment, which is a resource. */
const ENVIRONMENTS =
  "(SELECT (groupArray(resource_id), groupArray(resource_name)) FROM resources) AS environments";

function columnOf(column: GroupColumn, index: number): Column {
  if (isLineTagColumn(column))
    return { name: tagName(column, index), sql: lineTagSql(inLine(tagKey(column))) };
  if (column === "identity_id" || column === "resource_id")
    return { name: column, sql: column, named: `any(${column.replace("_id", "_name")})` };
  if (column === "environment_id")
    return { name: column, sql: column, named: `transform(${column}, environments.1, environments.2, '')` };
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
  const isByEnvironment = typeof order === "object" && order.by === "environment_id";
  const isCompared = input.comparedFrom !== undefined;
  const names = columns.map(({ name }) => name);
  const startOf = (from: number) => instant(storable({ ...window, from }).from);
  const now = isCompared ? `timestamp >= ${startOf(window.from)}` : undefined;
  // A list of groups alone has no names for the sums.
  const [total, before] = [totalOf(input, now), now === undefined ? "" : totalOf(input, `NOT (${now})`)];
  const apart = isOfIdentities(input.groupBy) ? [`${names[0]} = '${UNALLOCATED}'`] : [];
  return {
    with: [...columns.flatMap(({ lookup }) => lookup ?? []), ...(isByEnvironment ? [ENVIRONMENTS] : [])],
    select: [
      ...columns.map(selected),
      ...sumsOf(input, now),
      ...(isCompared ? [`${before} AS previous_amount`] : []),
    ],
    where: [
      ...conditionsOf({ ...input, window: { ...window, from: comparedFrom } }),
      ...(comparedTo < window.from
        ? [`NOT (timestamp >= ${startOf(comparedTo)} AND timestamp < ${startOf(window.from)})`]
        : []),
    ],
    groupBy: names,
    orderBy: [
      "currency",
      ...apart,
      orderSql(input, { total, before, now }),
      ...names.filter((name) => name !== "currency"),
    ],
    limit: `${limit} BY ${["currency", ...apart].join(", ")}`,
  };
}

interface Totals {
  readonly total: string;
  readonly before: string;
  /** Condition for rows of the period; undefined without a comparison. */
  readonly now: string | undefined;
}

function orderSql(input: GroupsInput, { total, before, now }: Totals): string {
  const { order, grouped, columns } = input;
  if (order === "amount") return `abs(${total}) DESC`;
  if (order === "change") return `abs(${total} - ${before}) DESC`;
  const { by, isDescending } = order;
  const part = (condition: string) =>
    totalOf(input, now === undefined ? condition : `${now} AND ${condition}`);
  const own = `identity_id != '${UNALLOCATED}' AND cost_type`;
  const keys: Readonly<Record<SortKey, string>> = {
    total_amount: total,
    previous_amount: before,
    change: `${total} - ${before}`,
    own: part(`${own} = 'usage'`),
    shared: part(`${own} = 'shared'`),
    passed: part(`${own} = 'passed'`),
    unallocated: part(`identity_id = '${UNALLOCATED}'`),
    row_count: countOf(now),
  };
  return `${isSortKey(by) ? keys[by] : shownText(columns[grouped.indexOf(by)])} ${isDescending ? "DESC" : "ASC"}`;
}

/** The text that people sort by: the name, or the value without one. */
function shownText({ name, named }: Column = { name: "''", sql: "" }): string {
  return `lowerUTF8(${named === undefined ? name : `if(${named} = '', ${name}, ${named})`})`;
}

const countOf = (condition: string | undefined) =>
  condition === undefined ? "count()" : `countIf(${condition})`;

type Costed = Pick<BreakdownInput, "cost">;

/** The view has NULL for costs that a bill does not have. */
function amountOf({ cost = "charged" }: Costed): string {
  const column = costColumns[cost];
  return column === undefined ? "amount" : `ifNull(${column}, 0)`;
}

const totalOf = (input: Costed, condition: string | undefined) =>
  condition === undefined ? `sum(${amountOf(input)})` : `sumIf(${amountOf(input)}, ${condition})`;

/** Sums rows that meet the condition, or all. */
function sumsOf(input: Costed, condition: string | undefined): string[] {
  const and = condition === undefined ? "" : `${condition} AND `;
  return [
    `${totalOf(input, condition)} AS total_amount`,
    ...["usage", "shared", "passed"].map(
      (type) => `${totalOf(input, `${and}cost_type = '${type}'`)} AS ${type}_amount`,
    ),
    `${countOf(condition)} AS row_count`,
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
    ...valueFilters(["cause"], filters).map(
      ({ isExcluding, values }) =>
        `(${causeColumns.join(", ")}) ${isExcluding ? "NOT IN" : "IN"} (${values.map((cause) => list(splitNames(cause))).join(", ")})`,
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
