/** Encodes lines of a bill as files in the formats of the providers. */
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { type BillLine, columns, numberColumns, timeColumns } from "./line.js";

type Schema = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>;

/** Gzipped CSV, with tags as JSON. */
export function csvGzOf(lines: readonly BillLine[]): Buffer {
  const head = [...columns, "Tags"].join(",");
  const rows = lines.map((line) =>
    [...columns.map((name) => cell(line[name])), cell(JSON.stringify(line.tags))].join(","),
  );
  return gzipSync([head, ...rows, ""].join("\n"));
}

function cell(value: string | null | undefined): string {
  const text = value ?? "";
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Parquet with snappy compression. Numbers are doubles and times are in milliseconds. Tags are a map, as in Amazon's
 * files, or a list of labels, as in BigQuery's.
 */
export function parquetOf(lines: readonly BillLine[], tags: "map" | "labels"): Buffer {
  const kinds = columns.map((name) => ({ name, ...kindOf(name) }));
  const labels = tags === "map" ? tagsMap : labelsList;
  const bytes = parquetWriteBuffer({
    columnData: [
      ...kinds.map(({ name, read }) => ({ name, data: lines.map((line) => read(line[name] ?? null)) })),
      { name: labels.name, data: lines.map((line) => entriesOf(line.tags)) },
    ],
    schema: [
      { name: "root", num_children: columns.length + 1 },
      ...kinds.map(({ name, element }) => ({ name, repetition_type: "OPTIONAL" as const, ...element })),
      ...labels.schema,
    ],
  });
  return Buffer.from(bytes);
}

const entriesOf = (tags: BillLine["tags"]) => Object.entries(tags).map(([key, value]) => ({ key, value }));

const text = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
const number = { type: "DOUBLE" } as const;
const instant = { type: "INT64", converted_type: "TIMESTAMP_MILLIS" } as const;

function kindOf(name: (typeof columns)[number]) {
  const among = (names: readonly string[]) => names.includes(name);
  if (among(numberColumns))
    return { element: number, read: (value: string | null) => value && Number(value) };
  if (among(timeColumns))
    return { element: instant, read: (value: string | null) => value && new Date(value) };
  return { element: text, read: (value: string | null) => value };
}

const tagsMap = {
  name: "Tags",
  schema: [
    { name: "Tags", repetition_type: "OPTIONAL", converted_type: "MAP", num_children: 1 },
    { name: "key_value", repetition_type: "REPEATED", num_children: 2 },
    { name: "key", repetition_type: "REQUIRED", ...text },
    { name: "value", repetition_type: "OPTIONAL", ...text },
  ] satisfies Schema,
};

const labelsList = {
  name: "x_Labels",
  schema: [
    { name: "x_Labels", repetition_type: "OPTIONAL", converted_type: "LIST", num_children: 1 },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "REQUIRED", num_children: 2 },
    { name: "key", repetition_type: "REQUIRED", ...text },
    { name: "value", repetition_type: "OPTIONAL", ...text },
  ] satisfies Schema,
};
