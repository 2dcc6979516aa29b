/** Encodes parameter values for `{name:Type}` as request text, in the format of ClickHouse's own clients. */
import { TupleParam } from "@clickhouse/client";

const ESCAPES: Readonly<Record<string, string>> = {
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "'": "\\'",
  "\\": "\\\\",
};

/** Supports text, numbers, booleans, lists and tuples. Throws for anything else. */
export function paramText(value: unknown): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "string" ? escaped(value) : inside(value);
}

/** Encodes a value inside a list or a tuple, where text is quoted. */
function inside(value: unknown): string {
  if (typeof value === "string") return `'${escaped(value)}'`;
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "bigint" || Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(inside).join(",")}]`;
  if (value instanceof TupleParam) return `(${value.values.map(inside).join(",")})`;
  throw new Error(`not a parameter of a statement: ${String(value)}`);
}

function escaped(text: string): string {
  return text.replace(/[\t\n\r'\\]/g, (each) => ESCAPES[each] ?? each);
}
