/** The statements of an export: its columns and rows, in the order of the list. */
import type { Statement } from "../clickhouse/statement.js";
import { collidedSql, dimensionIdSql } from "../query/chargebacks/dimensions.js";
import { chargebackOrder } from "../query/chargebacks/list.js";
import { metadataSql, weightJoins } from "../query/chargebacks/row-metadata.js";
import {
  type ChargebackFilters,
  type DaySpan,
  filtered,
  rowsInWindow,
  withClause,
} from "../query/chargebacks/scan.js";
import { jsonCell, textCell } from "../query/csv-cell.js";
import { isNameColumn, knownNames, nameColumns, nameSql } from "../query/inventory/names.js";
import type { DayCount } from "../query/page/position.js";
import type { DateWindow } from "../query/time/date-window.js";
import { type ExportColumn, exportColumns } from "./columns.js";
import { type ExportFormat, type ExportFormatName, exportFormats } from "./format.js";

export interface ExportInput {
  readonly window: DateWindow;
  readonly filters: ChargebackFilters;
  /** In the requested order; may repeat. */
  readonly columns: readonly ExportColumn[];
  /** Leaves CSV cells that look like formulas unchanged. */
  readonly raw: boolean;
  /** CSV by default. */
  readonly format?: ExportFormatName | undefined;
}

/** State of the tenant that the statements depend on. */
export interface ExportContext {
  /** The tenant has tags. Without tags, their column is empty and free; with tags, each row is hashed (0.3 µs). */
  readonly tagged: boolean;
  /** UTC days that may have rows, ascending, with at least as many rows as are exported. */
  readonly days: readonly DayCount[];
}

/** About 0.3 s of exporting, so that the fixed cost of a statement (20 ms) is negligible. */
const ROWS_AT_ONCE = 2_000_000;

/**
 * Returns statements of a few days each. Each writes a piece of the file.
 *
 * A single statement would have a block of each day's part in memory, to merge them in order: 650 MB for 200 days of
 * 50,000 rows, and more for larger days. A few days take 150 MB, whatever is exported. With the metadata, each
 * statement is of one day, because its joins have the weights of all its days in memory. There is at least one
 * statement, of no rows if need be: in typed formats, a file without rows still has the types of its columns.
 */
export function chargebackExport(input: ExportInput, context: ExportContext): Statement[] {
  const rowsAtOnce = input.columns.includes("metadata") ? 0 : ROWS_AT_ONCE;
  const spans = spansOf(context.days, rowsAtOnce);
  return (spans.length > 0 ? spans : [noDays]).map((span) => exportStatement(input, context, span));
}

/** A span without days. */
export const noDays: DaySpan = { first_day: "1970-01-02", last_day: "1970-01-01" };

/** Puts as many days into a span as stay within `rowsAtOnce` rows, at least one. */
export function spansOf(days: readonly DayCount[], rowsAtOnce: number): DaySpan[] {
  const spans: DaySpan[] = [];
  let rowsInSpan = 0;
  for (const { day, rows } of days) {
    const open = spans.at(-1);
    if (open !== undefined && rowsInSpan + rows <= rowsAtOnce) {
      spans[spans.length - 1] = { first_day: open.first_day, last_day: day };
      rowsInSpan += rows;
    } else {
      spans.push({ first_day: day, last_day: day });
      rowsInSpan = rows;
    }
  }
  return spans;
}

function exportStatement(
  input: ExportInput,
  { tagged }: ExportContext,
  { first_day, last_day }: DaySpan,
): Statement {
  const format: ExportFormat = exportFormats[input.format ?? "csv"];
  const { condition, params } = rowsInWindow(input.window);
  const filter = filtered(input.filters);
  const where = `${condition}${filter.condition} AND day >= {span_first:Date} AND day <= {span_last:Date}`;
  const withMetadata = input.columns.includes("metadata");
  const withTags = tagged && input.columns.some(isTagsColumn);
  const names = [
    ...filter.withClauses,
    ...knownNames(input.columns),
    ...(withTags || input.columns.includes("dimension_id") ? [collidedSql] : []),
    ...(withTags ? [taggedSql(input, format)] : []),
    ...(withMetadata ? [`rows AS (SELECT * FROM chargebacks WHERE ${where})`] : []),
  ];
  const cells = format.isText
    ? input.columns.map((column, index) => `${textCellOf(column, input.raw, withTags)} AS cell_${index}`)
    : input.columns.map(
        (column, index) => `${typedCell(column, withTags)} AS ${nameOf(input.columns, index)}`,
      );
  return {
    query: `
${withClause(...names)}SELECT
  ${cells.join(",\n  ")}
FROM ${withMetadata ? `rows AS r${weightJoins("rows")}` : `chargebacks AS r\nWHERE ${where}`}
ORDER BY ${chargebackOrder.map((column) => `r.${column}`).join(", ")}
FORMAT ${format.engineFormat}`,
    params: { ...params, ...filter.params, span_first: first_day, span_last: last_day },
  };
}

/** Columns of tags: the position in `tagged`, and the list that a cell is made of. */
const tagsColumns = {
  tags: { position: 2, list: "names" },
  tag_pairs: { position: 3, list: "pairs" },
} as const;

export function isTagsColumn(column: string): column is keyof typeof tagsColumns {
  return Object.hasOwn(tagsColumns, column);
}

/**
 * Constant arrays of dimensions and of their cells. Rows are looked up in them without a join, and so keep their order.
 */
function taggedSql({ columns, raw }: ExportInput, { isText }: ExportFormat): string {
  const key = String.raw`replaceRegexpAll(tag.2, '[\\\\=]', '\\\\\\0')`;
  const cells = Object.entries(tagsColumns).map(([column, { list }]) => {
    if (!columns.some((each) => each === column)) return "''";
    return isText ? csvList(list, raw) : list;
  });
  return `(
    SELECT (groupArray(dimension_id), ${cells.map((cell) => `groupArray(${cell})`).join(", ")}) FROM (
      SELECT dimension_id, arrayMap(tag -> tag.3, sorted) AS names, arrayMap(tag -> concat(${key}, '=', tag.3), sorted) AS pairs
      FROM (
        SELECT dimension_id, arraySort(groupArray((tag_id, toString(tag_key), display_name))) AS sorted
        FROM dimension_tags FINAL
        GROUP BY dimension_id
      )
    )
  ) AS tagged`;
}

/** Joins the items by `;` and escapes `;` and `\` in them with `\`. */
function csvList(list: "names" | "pairs", raw: boolean): string {
  const escaped = String.raw`replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;')`;
  return textCell(`arrayStringConcat(arrayMap(name -> ${escaped}, ${list}), ';')`, raw);
}

/** Hashes only rows that share identity and resource with a tagged dimension. The check costs next to nothing. */
function ifTagged(lookup: string, otherwise: string): string {
  const isInTagged = (column: string) =>
    `r.${column} IN (SELECT ${column} FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL))`;
  return `if(${isInTagged("identity_id")} AND ${isInTagged("resource_id")}, ${lookup}, ${otherwise})`;
}

function textCellOf(column: ExportColumn, raw: boolean, withTags: boolean): string {
  const kind = exportColumns[column];
  switch (kind) {
    case "plain":
      return `r.${column}`;
    case "text":
      return textCell(`r.${column}`, raw);
    case "flag":
      return `r.${column}`;
    case "map":
      return jsonCell(`toJSONString(r.${column})`);
    case "dimension_id":
      return dimensionIdSql("r.");
    case "amount":
      return "r.amount_hi + r.amount_lo";
    case "name":
      return textCell(nameOfRow(column), raw);
    case "tags":
    case "tag_pairs": {
      const cells = `tagged.${tagsColumns[kind].position}`;
      return withTags ? ifTagged(`transform(${dimensionIdSql("r.")}, tagged.1, ${cells}, '')`, "''") : "''";
    }
    case "metadata":
      return jsonCell(metadataSql);
  }
}

/** Timestamps are in milliseconds: Parquet has no type for whole seconds, and the engine would write bare numbers. */
function typedCell(column: ExportColumn, withTags: boolean): string {
  const kind = exportColumns[column];
  switch (kind) {
    case "plain":
      return `toDateTime64(r.${column}, 3, 'UTC')`;
    case "text":
      return `CAST(r.${column} AS String)`;
    case "flag":
      return `r.${column}`;
    case "map":
      return `toJSONString(r.${column})`;
    case "dimension_id":
      return dimensionIdSql("r.");
    case "amount":
      return "r.amount_hi + r.amount_lo";
    case "name":
      return `CAST(${nameOfRow(column)} AS String)`;
    case "tags":
    case "tag_pairs": {
      const position = `transform(${dimensionIdSql("r.")}, tagged.1, range(1, length(tagged.1) + 1), 0)`;
      const cells = `tagged.${tagsColumns[kind].position}`;
      return withTags ? `${cells}[${ifTagged(position, "0")}]` : "CAST([] AS Array(String))";
    }
    case "metadata":
      return metadataSql;
  }
}

function nameOfRow(column: ExportColumn): string {
  if (!isNameColumn(column)) throw new Error(`${column} is no name`);
  return nameSql(column, `r.${nameColumns[column].id}`);
}

/** Repeated columns get distinct names. The names are those of the fixed list. */
function nameOf(columns: readonly ExportColumn[], index: number): string {
  const column = columns[index] ?? "";
  const nth = columns.slice(0, index + 1).filter((each) => each === column).length;
  return nth === 1 ? column : `${column}_${nth}`;
}
