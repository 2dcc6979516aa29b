/**
 * Selects the rows of `chargebacks` that a read needs, as the text after WHERE, and counts them by day. Only this
 * module depends on the layout of the table. Reads of sums use a table of sums if one has all their columns, because it
 * has few rows and few parts.
 */
import { type ClickHouseClient, TupleParam } from "@clickhouse/client";
import { type Params, readRows, type Statement } from "../../clickhouse/statement.js";
import { DAY_SECONDS, dayOfSeconds, type InstantRange } from "../../common/days.js";
import { splitNames } from "../../common/name-list.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { causeColumns } from "../../domain/issue-cause.js";
import { type CostChoice, costColumns } from "../../domain/other-costs.js";
import { type SumTable, sumKeys, sumTables } from "../../domain/sum-tables.js";
import { inTeams } from "../inventory/names.js";
import { type TagFilter, UNTAGGED } from "../tags/filter.js";
import { tagCondition } from "../tags/tag-sql.js";
import { type ValueFilter, type ValueFilters, valueConditions, valueFilters } from "../value-filters.js";

/** Columns of a cloud bill's lines. Filters and groups have the same names as the columns. */
export const cloudColumns = {
  charge_category: "charge_category",
  service_provider: "service_provider",
  account_id: "account_id",
  region_id: "region_id",
  sku_id: "sku_id",
  rule: "rule",
} as const;

/** Filters on columns of billing lines, and their columns. A line and all of its chargebacks have the same values. */
export const lineFilterColumns = {
  resource_id: "resource_id",
  product_type: "product_type",
  product_category: "product_category",
  environment_id: "env_id",
  currency: "currency",
  ...cloudColumns,
} as const;

export type LineFilters = ValueFilters<keyof typeof lineFilterColumns>;

/** Filters on stored columns, and their columns. */
const filterColumns = {
  identity_id: "identity_id",
  ...lineFilterColumns,
  cost_type: "cost_type",
  allocation_method: "allocation_method",
  allocation_detail: "allocation_detail",
  passed_from: "passed_from",
} as const;

/**
 * Filters by values and by tags; all have to match. The team is the identity's. A cause is one text, as `joinNames`
 * writes `causeColumns`.
 */
export interface ChargebackFilters extends ValueFilters<keyof typeof filterColumns | "team" | "cause"> {
  readonly tags?: readonly TagFilter[] | undefined;
}

export const filterNames = Object.keys(filterColumns) as (keyof typeof filterColumns)[];

/** The rows to sum and count, and how. */
export interface SummedRows {
  /** The text after FROM. */
  readonly from: string;
  /** Columns `hi` and `lo`, the two parts of an amount, and `n`, the number of its chargebacks. */
  readonly parts: string;
  /** Counts the chargebacks in a group of rows. */
  readonly count: string;
  /** The rows are sums already. */
  readonly areSums: boolean;
  /** The condition for rows that no identity was found for. */
  readonly ofNobody: string;
}

const BY_IDENTITY = `identity_id = '${UNALLOCATED}'`;
/**
 * The same for tables of sums without the identity: a rule found nobody, or the owner of a part is unknown. Only rows of
 * UNALLOCATED have these.
 */
const BY_REASON = "(allocation_method = 'terminal' OR allocation_detail = 'owner_unknown')";

export const chargebacks: SummedRows = {
  from: "chargebacks",
  parts: "amount_hi AS hi, amount_lo AS lo, 1 AS n",
  count: "count()",
  areSums: false,
  ofNobody: BY_IDENTITY,
};

const sums = (table: SumTable): SummedRows => ({
  from: `published_${table}`,
  parts: "amount_hi AS hi, amount_lo AS lo, row_count AS n",
  count: "sum(row_count)",
  areSums: true,
  ofNobody: (sumKeys[table] as readonly string[]).includes("identity_id") ? BY_IDENTITY : BY_REASON,
});

/** Returns the same rows with another cost of the bill as their amount. Rows without that cost have 0. */
export function rowsOfCost(rows: SummedRows, cost: CostChoice): SummedRows {
  const column = costColumns[cost];
  if (column === undefined) return rows;
  const amounts = `ifNull(${column}, toDecimal128(0, 12)) AS amount_hi, toDecimal128(0, 12) AS amount_lo`;
  return {
    ...rows,
    from: `(SELECT * EXCEPT (amount_hi, amount_lo), ${amounts} FROM ${rows.from}) AS chargebacks`,
  };
}

/** Returns the smallest table that has these columns and those of the filters. */
export function summedRows(columns: readonly string[], filters: ChargebackFilters = {}): SummedRows {
  if (filters.tags !== undefined && filters.tags.length > 0) return chargebacks;
  const used = [
    ...columns,
    ...valueFilters(filterNames, filters).map(({ name }) => filterColumns[name]),
    ...(valueFilters(["team"], filters).length === 0 ? [] : ["identity_id"]),
    ...(valueFilters(["cause"], filters).length === 0 ? [] : causeColumns),
  ];
  const table = sumTables.find((each) =>
    used.every((column) => (sumKeys[each] as readonly string[]).includes(column)),
  );
  return table === undefined ? chargebacks : sums(table);
}

/** The last instant that DateTime can represent, in seconds since 1970: 2106-02-07. */
const LAST_INSTANT = 2 ** 32 - 1;

export interface SqlCondition {
  readonly condition: string;
  readonly params: Params;
}

/** UTC days, both included. Their names are parameters of statements. */
export interface DaySpan {
  readonly first_day: string;
  readonly last_day: string;
}

/**
 * Returns a condition for chargebacks, billing lines or sums. Instants are compared only if the window does not begin
 * and end with a UTC day. `days` limits the read to some of the window's days.
 */
export function rowsInWindow(window: InstantRange, days?: DaySpan): SqlCondition {
  const { from, to } = storable(window);
  if (from >= to) return { condition: "0", params: {} };
  const { first_day, last_day } = days ?? daysOf(from, to);
  const inDays =
    first_day === last_day
      ? { condition: "day = {first_day:Date}", params: { first_day } }
      : { condition: betweenDays, params: { first_day, last_day } };
  if (from % DAY_SECONDS === 0 && (to % DAY_SECONDS === 0 || to === LAST_INSTANT)) return inDays;
  return {
    condition: `${inDays.condition} AND ${betweenInstants}`,
    params: { ...inDays.params, ...instantsOf(from, to) },
  };
}

const betweenDays = "day >= {first_day:Date} AND day <= {last_day:Date}";
const betweenInstants = "timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}";

const daysOf = (from: number, to: number): DaySpan => ({
  first_day: dayOfSeconds(from),
  last_day: dayOfSeconds(Math.max(to - 1, 0)),
});
const instantsOf = (from: number, to: number) => ({ from: utcInstant(from), to: utcInstant(to) });

/**
 * Returns a condition, to append to another one, that excludes rows between a window and an earlier period. Empty if
 * there is no gap.
 */
export function outsideGap(window: InstantRange, earlierTo: number): SqlCondition {
  if (earlierTo >= window.from) return { condition: "", params: {} };
  return {
    condition: " AND NOT (timestamp >= {gap_from:DateTime('UTC')} AND timestamp < {gap_to:DateTime('UTC')})",
    params: {
      gap_from: utcInstant(storable({ ...window, from: earlierTo }).from),
      gap_to: utcInstant(storable(window).from),
    },
  };
}

interface Filtered extends SqlCondition {
  /** Named expressions, to put after the WITH of the whole statement. */
  readonly withClauses: readonly string[];
}

/** Returns all filters as conditions, to append to another one. */
export function filtered(filters: ChargebackFilters): Filtered {
  const byValue = valueConditions(filterColumns, filters);
  const byTeam = valueFilters(["team"], filters);
  const byCause = valueFilters(["cause"], filters).map(ofCauses);
  const tagged = (filters.tags ?? []).map((filter, index) =>
    filter.isOfLine ? withLineTag(filter, index) : tagCondition(filter, index),
  );
  return {
    withClauses: tagged.flatMap((each) => each.withClauses),
    condition:
      byValue.condition +
      byTeam.map(inTeams).join("") +
      [...byCause, ...tagged].map((each) => each.condition).join(""),
    params: Object.assign(
      {},
      byValue.params,
      ...byTeam.map(({ param, values }) => ({ [param]: values })),
      ...[...byCause, ...tagged].map((each) => each.params),
    ),
  };
}

function ofCauses({ isExcluding, values, param }: ValueFilter): SqlCondition {
  return {
    condition: ` AND (${causeColumns.join(", ")}) ${isExcluding ? "NOT IN" : "IN"} {${param}:Array(Tuple(String, String, String))}`,
    params: { [param]: values.map((text) => new TupleParam(splitNames(text))) },
  };
}

function withLineTag({ key, displayNames: names, isExcluding = false }: TagFilter, index: number): Filtered {
  return {
    withClauses: [],
    condition: ` AND ${lineTagSql(`{line_tag_${index}:String}`)} ${isExcluding ? "NOT IN" : "IN"} {tag_names_${index}:Array(String)}`,
    params: { [`line_tag_${index}`]: key, [`tag_names_${index}`]: names },
  };
}

/** Returns the value of a line's tag. `key` is an expression. */
export function lineTagSql(key: string): string {
  return `if(mapContains(line_tags, ${key}), line_tags[${key}], '${UNTAGGED}')`;
}

/** Returns WITH and the named expressions, or an empty text without any. */
export function withClause(...names: readonly string[]): string {
  return names.length === 0 ? "" : `WITH\n  ${names.join(",\n  ")}\n`;
}

/** Clamps a window to what the stores can represent. */
export function storable({ from, to }: InstantRange) {
  const clamp = (instant: number) => Math.min(Math.max(instant, 0), LAST_INSTANT);
  return { from: clamp(from), to: clamp(to) };
}

/** Formats an instant as a DateTime parameter, `YYYY-MM-DD hh:mm:ss`. */
export function utcInstant(instant: number): string {
  return new Date(instant * 1000).toISOString().slice(0, 19).replace("T", " ");
}

/** Converts `2026-01-01T00:00:00Z` to a DateTime parameter. */
export const storedInstant = (shown: string) => shown.replace("T", " ").replace("Z", "");

/**
 * Selects `{day, rows}`, days ascending. Without filters, the engine counts whole UTC days from metadata (2 ms on 5 M
 * rows).
 */
export function chargebackDays(window: InstantRange, filters: ChargebackFilters): Statement {
  const { withClauses: names, condition: filter, params: values } = filtered(filters);
  const { condition, params } = rowsInWindow(window);
  const isFromMetadata = params.from === undefined && filter === "";
  const { from, count } = isFromMetadata ? chargebacks : summedRows([], filters);
  return {
    query: `${withClause(...names)}SELECT day, ${count} AS rows FROM ${from} WHERE ${condition}${filter} GROUP BY day ORDER BY day`,
    params: { ...params, ...values },
  };
}

/** Selects every UTC day that has chargeback rows, ascending. */
export function chargebackDates(): Statement {
  return { query: "SELECT day FROM chargebacks GROUP BY day ORDER BY day", params: {} };
}

export async function readChargebackDates(client: ClickHouseClient, signal?: AbortSignal): Promise<string[]> {
  return (await readRows<{ day: string }>(client, chargebackDates(), signal)).map(({ day }) => day);
}
