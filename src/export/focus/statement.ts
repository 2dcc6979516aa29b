/**
 * The statements of a FOCUS export: one row per chargeback, which is a part of its billing line, in the order of the
 * list.
 */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import type { Statement } from "../../clickhouse/statement.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import type { ExportVersion } from "../../domain/export-versions.js";
import type { OtherCost } from "../../domain/other-costs.js";
import { SPLIT_ORIGIN_COST, SPLIT_ORIGIN_ID } from "../../focus/index.js";
import { collidedSql, dimensionIdSql } from "../../query/chargebacks/dimensions.js";
import { chargebackOrder } from "../../query/chargebacks/list.js";
import {
  type ChargebackFilters,
  type DaySpan,
  filtered,
  rowsInWindow,
  withClause,
} from "../../query/chargebacks/scan.js";
import { jsonCell, textCell } from "../../query/csv-cell.js";
import { knownNames, nameSql } from "../../query/inventory/names.js";
import type { DayCount } from "../../query/page/position.js";
import type { DateWindow } from "../../query/time/date-window.js";
import type { ExportFormat } from "../format.js";
import { noDays, spansOf } from "../statement.js";
import { type FocusOutColumn, focusOutColumns } from "./columns.js";
import { exportedLineColumns, summable } from "./line-columns.js";
import { focusLines, lineKey, ratio, sharedRows, shareOf } from "./shares.js";

export interface FocusExportInput {
  readonly window: DateWindow;
  /** Filters on lines, not on their parts: see `partFilters`. */
  readonly filters: ChargebackFilters;
  readonly columns: readonly FocusOutColumn[];
}

/** Filters that keep some parts of a line and drop others, so that the costs no longer add up to the line's. */
export const partFilters = [
  "identity_id",
  "team",
  "cost_type",
  "allocation_method",
  "allocation_detail",
] as const;

/** A statement has the lines and parts of all its days in memory. */
const ROWS_AT_ONCE = 200_000;

/** Splits the days into spans that fit one statement each; a span without days if there are none. */
export function focusSpans(days: readonly DayCount[]): DaySpan[] {
  const spans = spansOf(days, ROWS_AT_ONCE);
  return spans.length > 0 ? spans : [noDays];
}

/** Returns one statement per span of days. */
export function focusExport(
  input: FocusExportInput,
  format: Pick<ExportFormat, "isText" | "engineFormat">,
  days: readonly DayCount[],
): Statement[] {
  return focusSpans(days).map((span) => focusPiece(input, format, span));
}

/** Selects the rows of a span, in a format of the engine. */
export function focusPiece(
  input: FocusExportInput,
  { isText, engineFormat }: Pick<ExportFormat, "isText" | "engineFormat">,
  span: DaySpan,
): Statement {
  const { query, params } = focusRows(input, isText, span);
  return { query: `${query}\nFORMAT ${engineFormat}`, params };
}

/** Columns whose sums show whether a file is complete. */
export const totalled = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"] as const;

/** Selects `{currency, rows, BilledCost, …}` of a span, one row per billing currency; sums are exact, as texts. */
export function focusTotals(
  input: Pick<FocusExportInput, "window" | "filters">,
  version: ExportVersion,
  span: DaySpan,
): Statement {
  const needed: readonly string[] = ["BillingCurrency", ...totalled];
  const columns = focusOutColumns(version, []).filter(({ name }) => needed.includes(name));
  const { query, params } = focusRows({ ...input, columns }, false, span);
  const sums = totalled.map((name) => `toString(sum(${name})) AS ${identifier(`sum ${name}`)}`);
  const named = totalled.map((name) => `ifNull(${identifier(`sum ${name}`)}, '0') AS ${identifier(name)}`);
  return {
    query: `
SELECT currency, rows, ${named.join(", ")}
FROM (SELECT assumeNotNull(BillingCurrency) AS currency, toString(count()) AS rows, ${sums.join(", ")} FROM (${query}) GROUP BY currency)
ORDER BY currency`,
    params,
  };
}

function focusRows(input: FocusExportInput, isText: boolean, span: DaySpan): Statement {
  const { condition, params } = rowsInWindow(input.window);
  const filter = filtered(input.filters);
  const inSpan = "day >= {span_first:Date} AND day <= {span_last:Date}";
  const cells = input.columns.map((column, index) => {
    const value = valueSql(column);
    return isText
      ? `${textOf(column, value)} AS cell_${index}`
      : `${typedOf(column, value)} AS ${identifier(`out ${column.name}`)}`;
  });
  const named = input.columns.map(({ name }) => `${identifier(`out ${name}`)} AS ${identifier(name)}`);
  const rows = `SELECT ${cells.join(",\n  ")}
FROM (${sharedRows(`${condition}${filter.condition} AND ${inSpan}`)}) AS r
LEFT JOIN (${focusLines(inSpan)}) AS l ON ${lineKey.map((name) => `l.${name} = r.${name}`).join(" AND ")}
WHERE throwIf(l.BillingCurrency = '', 'a chargeback has no line in the bill') = 0
ORDER BY ${chargebackOrder.map((column) => `r.${column}`).join(", ")}`;
  return {
    query: `
${withClause(...filter.withClauses, ...knownNames(["identity_name"]), collidedSql, taggedSql)}${
  isText ? rows : `SELECT ${named.join(", ")} FROM (${rows})`
}`,
    params: { ...params, ...filter.params, span_first: span.first_day, span_last: span.last_day },
  };
}

/** Selects the names in the metadata of FOCUS lines of these days. */
export function billedColumns(window: DateWindow): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `SELECT arrayJoin(groupUniqArrayArray(JSONExtractKeys(metadata))) AS name FROM published_billing WHERE ecosystem = 'focus' AND ${condition} ORDER BY name`,
    params,
  };
}

const taggedSql = `(
    SELECT (groupArray(dimension_id), groupArray(pairs)) FROM (
      SELECT dimension_id, arraySort(groupArray((toString(tag_key), toString(display_name)))) AS pairs
      FROM dimension_tags FINAL GROUP BY dimension_id
    )
  ) AS tagged`;

const isAllocated = `r.identity_id != ${literal(UNALLOCATED)}`;
const origin = lineKey.map((name) =>
  name === "timestamp" ? "toUnixTimestamp(r.timestamp)" : `toString(r.${name})`,
);

/** Tags of the dimension that the line does not have with the same value. */
const allocatedTags = `arrayFilter(pair -> NOT (mapContains(l.tags, pair.1) AND l.tags[pair.1] = pair.2),
    tagged.2[transform(${dimensionIdSql("r.")}, tagged.1, range(1, length(tagged.1) + 1), 0)])`;

const details = [
  ["x_Method", "toJSONString(toString(r.allocation_method))"],
  ["x_Detail", "toJSONString(toString(r.allocation_detail))"],
  ["x_CostType", "toJSONString(toString(r.cost_type))"],
  ["x_Rule", "toJSONString(toString(r.rule))"],
  ["x_Component", "toString(r.component)"],
  ["x_ComponentRatio", "toJSONString(toString(r.component_ratio))"],
  ["x_Tier", "toString(r.tier)"],
  ["x_Metric", "toJSONString(toString(r.metric))"],
  ["x_PassedFrom", "toJSONString(CAST(r.passed_path.identity_id AS Array(String)))"],
  ["x_Provisional", "if(r.provisional, 'true', 'false')"],
] as const;

/** Columns that describe the row and not its line. */
const rowValues: Readonly<Record<string, string>> = {
  AllocatedMethodDetails: `concat('{"Elements":[{"AllocatedRatio":', ${ratio}, ${details.map(([key, value]) => `',"${key}":', ${value}`).join(", ")}, '}]}')`,
  AllocatedMethodId: `arrayStringConcat(arrayFilter(part -> part != '', ['chargehouse', toString(r.tenant_id), toString(r.rules_hash)]), ':')`,
  AllocatedResourceId: `if(${isAllocated}, CAST(r.identity_id AS String), NULL)`,
  AllocatedResourceName: `if(${isAllocated}, ifNull(nullIf(CAST(${nameSql("identity_name", "r.identity_id")} AS String), ''), CAST(r.identity_id AS String)), NULL)`,
  AllocatedTags: `nullIf(toJSONString(CAST((${allocatedTags}) AS Map(String, String))), '{}')`,
  [SPLIT_ORIGIN_COST]: "l.BilledCost",
  [SPLIT_ORIGIN_ID]: `lower(hex(sipHash128(toString(r.tenant_id), ${origin.join(", ")})))`,
};

const lineValueNames = new Set([...Object.keys(exportedLineColumns), "ProviderName", "PublisherName"]);

/** Costs that rows of FOCUS bills have parts of; null in the rows of other bills. */
const storedParts: Readonly<Record<string, OtherCost>> = {
  BilledCost: "billed_cost",
  EffectiveCost: "effective_cost",
  ListCost: "list_cost",
};

function valueSql({ name, value, custom }: FocusOutColumn): string {
  if (custom !== undefined) return `nullIf(l.said[${literal(custom)}], '')`;
  const rowValue = rowValues[value];
  if (rowValue !== undefined) return rowValue;
  if (!lineValueNames.has(value)) throw new Error(`${name} has no value`);
  if (!summable.includes(value)) return `l.${value}`;
  const stored = storedParts[value];
  return stored === undefined ? shareOf(`l.${value}`) : `ifNull(r.${stored}, ${shareOf(`l.${value}`)})`;
}

function textOf({ type }: FocusOutColumn, value: string): string {
  switch (type) {
    case "Decimal":
      return `ifNull(toString(${value}), '')`;
    case "Date/Time":
      return `ifNull(formatDateTime(${value}, '%Y-%m-%dT%H:%i:%SZ', 'UTC'), '')`;
    case "JSON":
      return `if(isNull(${value}), '', ${jsonCell(`assumeNotNull(${value})`)})`;
    case "String":
      return textCell(`ifNull(${value}, '')`, true);
  }
}

/** Timestamps are in milliseconds, because Parquet has no type for whole seconds. */
function typedOf({ type }: FocusOutColumn, value: string): string {
  if (type === "Decimal") return `CAST(${value} AS Nullable(Decimal(38, 12)))`;
  if (type === "Date/Time") return `CAST(${value} AS Nullable(DateTime64(3, 'UTC')))`;
  return `CAST(${value} AS Nullable(String))`;
}
