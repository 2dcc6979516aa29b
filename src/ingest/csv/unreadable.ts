/** What a person is told of a file that the engine could not read: nothing of what stands in it. */
import { ClickHouseError } from "@clickhouse/client";
import { UnreadableFile } from "../../focus/format.js";
import { errorText } from "../../store/clickhouse/error-text.js";

const refusal =
  /^(CANNOT_|INCORRECT_DATA|UNEXPECTED_|TOO_LARGE|BAD_ARGUMENTS|UNKNOWN_TYPE|NOT_IMPLEMENTED|STD_EXCEPTION|DUPLICATE_COLUMN)/;

/** What a statement throws for a column that the engine takes as it is, such as one of Parquet. */
export function notUtf8Column(name: string): string {
  return `has a column that is not text in UTF-8: ${JSON.stringify(name)}`;
}
const NOT_UTF8_COLUMN = /has a column that is not text in UTF-8: "(?:[^"\\]|\\.)*"/;

/** A sentence about the file, without its name; undefined for an error that is not the file's. */
export function unreadable(error: unknown): string | undefined {
  if (error instanceof UnreadableFile) return error.message;
  if (isCompression(error)) return "cannot be unpacked: it is damaged or cut off";
  if (!(error instanceof ClickHouseError)) return undefined;
  if (error.type === "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO") return NOT_UTF8_COLUMN.exec(error.message)?.[0];
  if (!refusal.test(error.type ?? "")) return undefined;
  // The engine's message quotes values of the file, which are nobody's business in a log.
  const row = unreadableRow(error);
  const where = row === undefined ? "" : ` at row ${row}`;
  const why = errorText(error).includes("columns than expected")
    ? ": it has more or fewer values than the header"
    : "";
  return `cannot be read${where}${why} (${error.type})`;
}

/** The row at which it could not be read on, 1 being the first one behind the header; undefined when that is not known. */
export function unreadableRow(error: unknown): number | undefined {
  if (!(error instanceof ClickHouseError) || !refusal.test(error.type ?? "")) return undefined;
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  return row === undefined ? undefined : Number(row) - 1;
}

function isCompression(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^Z_|^ZSTD/.test(String(error.code));
}
