/** The statement that reads a file of FOCUS lines into the landing table, whatever columns it has. */
import { identifier, literal } from "../../../../clickhouse/sql-text.js";
import { LONGEST_ID, LONGEST_TEXT } from "../../../../domain/text-limits.js";
import { type FocusFile, mapColumns, type SourceColumn, writtenText } from "../../../../focus/index.js";
import { notUtf8Column, tooLongColumn } from "../../../csv/unreadable.js";
import { type ColumnSql, columnSql, columnText, type Named } from "./column-sql.js";
import { findingsMask } from "./findings.js";
import {
  costColumns,
  LANDING_VERSION,
  type LandingKind,
  landingColumns,
  otherStandardNames,
} from "./landing-columns.js";
import { any, lineConditions } from "./line-checks.js";

export interface LandingStatement {
  readonly query: string;
  /** Columns of the landing table that the file has. */
  readonly columns: readonly string[];
}

export interface LandingFile {
  readonly delivery: string;
  /** Position of the file in the delivery, from 0. */
  readonly file: number;
  readonly format: "CSV" | "Parquet";
  readonly sourceColumns: readonly SourceColumn[];
  /** First value of the row that is sent after the last one of a CSV file. */
  readonly endMark: string;
  /** Currency of lines that name none. */
  readonly currency: string | undefined;
}

/** 53 bits, so that JavaScript numbers are exact. */
const LARGEST_LINE_ID = "9007199254740991";

/** Kinds of columns whose texts may be longer than ids. */
const longTexts: ReadonlySet<LandingKind> = new Set(["json", "tags", "long_text"]);

/** Columns with tags in bills without `Tags`, in order of preference. */
const otherTags = ["x_labels", "x_tags"];

export function landingStatement(landing: LandingFile): LandingStatement {
  const { sourceColumns, format, delivery, file, endMark, currency } = landing;
  const at = positionsOf(mapColumns(sourceColumns, LANDING_VERSION), sourceColumns);
  const lengths = new Map(
    landingColumns.flatMap(({ name, kind }) => {
      const position = at.get(name);
      return position === undefined
        ? []
        : [[position, longTexts.has(kind) ? LONGEST_TEXT : LONGEST_ID] as const];
    }),
  );
  const columns = landingColumns.flatMap((column) => {
    const position = at.get(column.name);
    if (position === undefined) return [];
    const sql = columnSql(column, fileColumn(position), sourceColumns[position]?.type ?? null);
    const isDefaulted = column.name === "BillingCurrency" && currency !== undefined;
    const value = isDefaulted ? `if(${sql.value} = '', ${literal(currency)}, ${sql.value})` : sql.value;
    return [{ ...column, ...sql, value }];
  });
  const byName = new Map(columns.map((column) => [column.name, column]));
  const text = (name: string) => byName.get(name)?.text ?? "''";
  const valueIn = (name: string) => byName.get(name)?.value;
  const currencySql = valueIn("BillingCurrency") ?? literal(currency ?? "");
  const start = valueIn("ChargePeriodStart") ?? "CAST(NULL AS Nullable(DateTime('UTC')))";
  const of = (kind: LandingKind) => columns.filter((column) => column.kind === kind);
  const unread = (read: readonly ColumnSql[]) => any(read.flatMap((column) => column.unread ?? []));
  const tags = byName.get("Tags");
  const findings = findingsMask({
    ...lineConditions(valueIn),
    no_charge_date: `isNull(${start})`,
    unreadable_cost: unread(of("cost")),
    no_currency: `NOT match(${currencySql}, '^[A-Z]{3}$')`,
    rounded_cost: any(of("cost").flatMap(({ rounded }) => rounded ?? [])),
    unreadable_number: unread(of("number")),
    unreadable_date: unread(of("instant").filter(({ name }) => name !== "ChargePeriodStart")),
    unreadable_tags: unread(of("tags")),
    ...(tags !== undefined && {
      repeated_tag_key: "length(arrayDistinct(tag_pairs.1)) != length(tag_pairs)",
      blank_tag_key: "arrayExists(p -> trimBoth(p.1) != p.1 OR p.1 = '', written_pairs)",
    }),
  });
  const custom = customOf(sourceColumns, new Set(at.values()));
  const customMap =
    tags?.unread === undefined
      ? custom
      : `mapConcat(${custom}, if(${tags.unread}, map('Tags', ${tags.text}), map()))`;
  const hashed = columns.flatMap(({ kind, value }) => {
    if (kind === "cost" || kind === "number") return [`ifNull(${value}, 0)`, `isNull(${value})`];
    return kind === "instant" ? [`ifNull(${value}, toDateTime(0, 'UTC'))`] : [value];
  });
  const values: readonly Named[] = [
    [literal(delivery), "delivery"],
    [String(file), "file"],
    ["row", "line"],
    [format === "CSV" ? `${fileColumn(0)} = ${literal(endMark)}` : "false", "is_end"],
    [`ifNull(toDate(${start}), toDate(0))`, "charge_day"],
    [findings, "findings"],
    [`greatest(bitAnd(cityHash64(${[...hashed, "custom"].join(", ")}), ${LARGEST_LINE_ID}), 1)`, "line_id"],
    [`[${costColumns.map(text).join(", ")}]`, "cost_texts"],
    ["custom", "custom_columns"],
    ...columns.map(({ name, value }) => [value, name] as const),
    ...(byName.has("BillingCurrency") ? [] : [[currencySql, "BillingCurrency"] as const]),
  ];
  const query = `INSERT INTO focus_landing (${values.map(([, name]) => identifier(name)).join(", ")})
SELECT ${listOf(values.map(([sql, name]) => [sql, identifier(`to ${name}`)]))}
FROM (SELECT *, ${listOf([...columns.flatMap(({ derived }) => derived), [customMap, "custom"]])}
  FROM (SELECT *, ${listOf(columns.flatMap(({ direct }) => direct))}
    FROM (${linesOf(landing, lengths)})))
FORMAT ${format}`;
  return { query, columns: columns.map(({ name }) => name) };
}

function listOf(named: readonly Named[]): string {
  return named.map(([sql, name]) => `${sql} AS ${name}`).join(", ");
}

/** Returns the SQL name of a column of the file, by its position from 0. */
function fileColumn(at: number): string {
  return `c${at + 1}`;
}

/** Selects the file's own columns, whatever their names, as `c1`, `c2`, …, and `row`, from 1. */
function linesOf({ format, sourceColumns }: LandingFile, lengths: ReadonlyMap<number, number>): string {
  const lengthConditions = lengthChecks(sourceColumns, lengths);
  if (format === "CSV") {
    const structure = sourceColumns.map((_, at) => `${fileColumn(at)} String`).join(", ");
    const where = ["row > 0", ...lengthConditions].join(" AND ");
    return `SELECT rowNumberInAllBlocks() AS row, * FROM input(${literal(structure)}) WHERE ${where}`;
  }
  const structure = sourceColumns.map(({ name, type }) => `${identifier(name)} ${type}`).join(", ");
  const renamed = sourceColumns.map(({ name }, at) => `file.${identifier(name)} AS ${fileColumn(at)}`);
  const conditions = [...sourceColumns.flatMap((column) => textCheck(column)), ...lengthConditions];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `SELECT rowNumberInAllBlocks() + 1 AS row, ${renamed.join(", ")} FROM input(${literal(structure)}) AS file${where}`;
}

/** Conditions that throw if a text has more characters than its column allows. */
function lengthChecks(
  sourceColumns: readonly SourceColumn[],
  lengths: ReadonlyMap<number, number>,
): string[] {
  return sourceColumns.flatMap(({ name, type }, at) => {
    if (type !== null && !type.includes("String")) return [];
    const text =
      type === null ? fileColumn(at) : `ifNull(${writtenText(`file.${identifier(name)}`, type)}, '')`;
    const most = lengths.get(at) ?? LONGEST_TEXT;
    return [`throwIf(lengthUTF8(${text}) > ${most}, ${literal(tooLongColumn(name, most))}) = 0`];
  });
}

/**
 * Throws if a text of the column is not UTF-8, also within a map or a list. CSV is checked while its bytes are read.
 */
function textCheck({ name, type }: SourceColumn): string[] {
  if (!type?.includes("String")) return [];
  const text = `ifNull(${writtenText(`file.${identifier(name)}`, type)}, '')`;
  return [`throwIf(NOT isValidUTF8(${text}), ${literal(notUtf8Column(name))}) = 0`];
}

/** Positions of the file's columns, by their name in the landing table. */
function positionsOf({ columns }: FocusFile, sourceColumns: readonly SourceColumn[]): Map<string, number> {
  const at = new Map(columns.map((each) => [each.column.name, each.index]));
  for (const name of [...at.keys()])
    if (!landingColumns.some((column) => column.name === name)) at.delete(name);
  if (at.has("Tags")) return at;
  const names = sourceColumns.map(({ name }) => name.trim().toLowerCase());
  const position = otherTags.map((name) => names.indexOf(name)).find((each) => each >= 0);
  if (position !== undefined) at.set("Tags", position);
  return at;
}

/**
 * Collects the columns without a column of their own, by name. Names of the standard are found in any case. A repeated
 * name gets a number.
 */
function customOf(sourceColumns: readonly SourceColumn[], mapped: ReadonlySet<number>): string {
  const nameCounts = new Map<string, number>();
  const entries = sourceColumns.flatMap(({ name: writtenName, type }, at) => {
    const name = standardName(writtenName.trim());
    const count = (nameCounts.get(name) ?? 0) + 1;
    nameCounts.set(name, count);
    if (mapped.has(at)) return [];
    return [{ key: count === 1 ? name : `${name} ${count}`, value: columnText(fileColumn(at), type) }];
  });
  const sorted = entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  const type = "Map(String, String)";
  if (sorted.length === 0) return `CAST(map() AS ${type})`;
  const pairs = sorted.map(({ key, value }) => `${literal(key)}, ${value}`).join(", ");
  return `CAST(mapFilter((k, v) -> v != '', map(${pairs})) AS ${type})`;
}

function standardName(name: string): string {
  return otherStandardNames.find((other) => other.toLowerCase() === name.toLowerCase()) ?? name;
}
