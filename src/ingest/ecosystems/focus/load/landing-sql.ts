/** The statement that reads a file of FOCUS lines into the landing table, whatever columns it has. */
import { type FocusFile, readColumns, type WrittenColumn } from "../../../../focus/file.js";
import { writtenText } from "../../../../focus/written-text.js";
import { identifier, literal } from "../../../../store/clickhouse/sql-text.js";
import { findingsMask } from "./findings.js";
import { costColumns, LANDING_VERSION, landingColumns } from "./landing-columns.js";
import { any, lineConditions } from "./line-checks.js";
import { areTags, given, instant, isPlain, isRounded, stored, tagMap, tagPairs } from "./line-sql.js";

export interface LandingStatement {
  readonly query: string;
  /** Columns of the landing table that the file has. */
  readonly columns: readonly string[];
}

export interface LandingFile {
  readonly delivery: string;
  /** Place of the file in the delivery, from 0. */
  readonly file: number;
  readonly format: "CSV" | "Parquet";
  readonly written: readonly WrittenColumn[];
  /** Text of the first value of the row that is sent behind the last one of a CSV file. */
  readonly endMark: string;
  /** Of lines that name none. */
  readonly currency: string | undefined;
}

/** Of 53 bits, as numbers of JavaScript are exact. */
const LARGEST_LINE_ID = "9007199254740991";

/** Tags of bills without `Tags`, in this order. */
const otherTags = ["x_labels", "x_tags"];

export function landingStatement(landing: LandingFile): LandingStatement {
  const { written, format, delivery, file, endMark, currency } = landing;
  const read = readColumns(written, LANDING_VERSION);
  const at = placesOf(read, written);
  const text = (column: string) => identifier(`text ${column}`);
  const of = landingColumns.filter(({ name }) => at.has(name));
  const has = (name: string) => at.has(name);
  const named = (kind: string) => of.filter((column) => column.kind === kind).map(({ name }) => name);

  const texts = of.map(({ name }) => `${given(source(landing, at.get(name) ?? 0))} AS ${text(name)}`);
  const custom = customOf(landing, new Set(at.values()));
  const parsed: string[] = [];
  const values = new Map<string, string>();
  for (const { name, kind } of of) {
    const value = identifier(`value ${name}`);
    values.set(name, value);
    if (kind === "cost" || kind === "number") {
      parsed.push(`${isPlain(text(name))} AS ${identifier(`plain ${name}`)}`);
      parsed.push(`${stored(text(name), identifier(`plain ${name}`))} AS ${value}`);
    } else if (kind === "instant") parsed.push(`${instant(text(name))} AS ${value}`);
    else if (kind === "tags") parsed.push(...tagsOf(text(name)), `${tagMap("tag_pairs")} AS ${value}`);
    else if (name === "BillingCurrency" && currency !== undefined)
      parsed.push(`if(${text(name)} = '', ${literal(currency)}, ${text(name)}) AS ${value}`);
    else values.set(name, text(name));
  }
  const currencyOf = values.get("BillingCurrency") ?? literal(currency ?? "");
  const unread = (names: readonly string[]) =>
    any(names.map((name) => `${text(name)} != '' AND isNull(${values.get(name)})`));
  const start = values.get("ChargePeriodStart") ?? "CAST(NULL AS Nullable(DateTime('UTC')))";
  const findings = findingsMask({
    ...lineConditions((name) => values.get(name)),
    no_charge_date: `isNull(${start})`,
    unreadable_cost: unread(named("cost")),
    no_currency: `NOT match(${currencyOf}, '^[A-Z]{3}$')`,
    rounded_cost: any(named("cost").map((name) => isRounded(text(name), identifier(`plain ${name}`)))),
    unreadable_number: unread(named("number")),
    unreadable_date: unread(named("instant").filter((name) => name !== "ChargePeriodStart")),
    ...(has("Tags") && {
      unreadable_tags: "NOT are_tags",
      repeated_tag_key: "length(arrayDistinct(tag_pairs.1)) != length(tag_pairs)",
      blank_tag_key: "arrayExists(p -> trimBoth(p.1) != p.1 OR p.1 = '', written_pairs)",
    }),
  });
  const customMap = has("Tags")
    ? `mapConcat(${custom}, if(are_tags, map(), map('Tags', ${text("Tags")})))`
    : custom;
  const hashed = of.flatMap(({ name, kind }) => {
    const value = values.get(name) ?? "";
    if (kind === "cost" || kind === "number") return [`ifNull(${value}, 0)`, `isNull(${value})`];
    return kind === "instant" ? [`ifNull(${value}, toDateTime(0, 'UTC'))`] : [value];
  });
  const columns: readonly (readonly [string, string])[] = [
    ["delivery", literal(delivery)],
    ["file", String(file)],
    ["line", "row"],
    ["is_end", format === "CSV" ? `c1 = ${literal(endMark)}` : "false"],
    ["charge_day", `ifNull(toDate(${start}), toDate(0))`],
    ["findings", findings],
    ["line_id", `greatest(bitAnd(cityHash64(${[...hashed, "custom"].join(", ")}), ${LARGEST_LINE_ID}), 1)`],
    ["cost_texts", `[${costColumns.map((name) => (has(name) ? text(name) : "''")).join(", ")}]`],
    ["custom_columns", "custom"],
    ...of.map(({ name }) => [name, values.get(name) ?? ""] as const),
    ...(has("BillingCurrency") || currency === undefined ? [] : [["BillingCurrency", currencyOf] as const]),
  ];
  const query = `INSERT INTO focus_landing (${columns.map(([name]) => identifier(name)).join(", ")})
SELECT ${columns.map(([name, value]) => `${value} AS ${identifier(`to ${name}`)}`).join(", ")}
FROM (SELECT *, ${[...parsed, `${customMap} AS custom`].join(", ")}
  FROM (SELECT *${texts.map((each) => `, ${each}`).join("")}
    FROM (SELECT rowNumberInAllBlocks() ${format === "CSV" ? "" : "+ 1"} AS row, * FROM input(${literal(structureOf(landing))}))
    ${format === "CSV" ? "WHERE row > 0" : ""}))
FORMAT ${format}`;
  return { query, columns: of.map(({ name }) => name) };
}

/** Places of the file's columns, by the name that the landing table has for them. */
function placesOf({ columns }: FocusFile, written: readonly WrittenColumn[]): Map<string, number> {
  const at = new Map(columns.map((each) => [each.column.name, each.at]));
  for (const name of [...at.keys()])
    if (!landingColumns.some((column) => column.name === name)) at.delete(name);
  if (at.has("Tags")) return at;
  const names = written.map(({ name }) => name.toLowerCase());
  const place = otherTags.map((name) => names.indexOf(name)).find((each) => each >= 0);
  if (place !== undefined) at.set("Tags", place);
  return at;
}

/** A column of the file as text, empty for null. */
function source({ format, written }: LandingFile, at: number): string {
  const column = format === "CSV" ? `c${at + 1}` : identifier(`c${at + 1}`);
  if (format === "CSV") return column;
  return `ifNull(${writtenText(identifier(written[at]?.name ?? ""), written[at]?.type ?? "")}, '')`;
}

function structureOf({ format, written }: LandingFile): string {
  return written
    .map(({ name, type }, at) => (format === "CSV" ? `c${at + 1} String` : `${identifier(name)} ${type}`))
    .join(", ");
}

/** What has no column of its own, by name; a name that repeats is numbered. */
function customOf(landing: LandingFile, taken: ReadonlySet<number>): string {
  const seen = new Map<string, number>();
  const entries = landing.written.flatMap(({ name }, at) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    if (taken.has(at)) return [];
    return [{ key: count === 1 ? name : `${name} ${count}`, value: given(source(landing, at)) }];
  });
  const sorted = entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  const type = "Map(LowCardinality(String), String)";
  if (sorted.length === 0) return `CAST(map() AS ${type})`;
  const pairs = sorted.map(({ key, value }) => `${literal(key)}, ${value}`).join(", ");
  return `CAST(mapFilter((k, v) -> v != '', map(${pairs})) AS ${type})`;
}

function tagsOf(text: string): string[] {
  return [
    `${areTags(text)} AS are_tags`,
    `if(are_tags AND ${text} NOT IN ('', '{}', '[]'), ${tagPairs(text)}, []) AS written_pairs`,
    "arrayMap(p -> (trimBoth(p.1), p.2), written_pairs) AS tag_pairs",
  ];
}
