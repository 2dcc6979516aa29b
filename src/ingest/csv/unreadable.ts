/** What a person reads about a file that the engine could not read: no value of the file, and no code of the engine. */
import { ClickHouseError } from "@clickhouse/client";
import { UnreadableFile } from "../../focus/format.js";

/** Errors that the content of a file causes. Others, such as a disk that is full, say nothing about the file. */
const refusal =
  /^(CANNOT_(PARSE|READ|EXTRACT|CONVERT|DETECT|INSERT|DECOMPRESS)|INCORRECT_DATA|UNEXPECTED_|TOO_LARGE|BAD_ARGUMENTS|UNKNOWN_TYPE|NOT_IMPLEMENTED|STD_EXCEPTION|DUPLICATE_COLUMN)/;

/** What a statement throws for a column that the engine takes as it is, such as one of Parquet. */
export function notUtf8Column(name: string): string {
  return `has a column that is not text in UTF-8: ${JSON.stringify(name)}`;
}
export function tooLongColumn(name: string, characters: number): string {
  return `has a value of more than ${characters} characters in a column: ${JSON.stringify(name)}`;
}
const OF_COLUMN =
  /has a (column that is not text in UTF-8|value of more than \d+ characters in a column): "(?:[^"\\]|\\.)*"/;

/** A sentence about the file, without its name; undefined for an error that is not the file's. */
export function unreadable(error: unknown): string | undefined {
  if (error instanceof UnreadableFile) return error.message;
  if (isCompression(error)) return "cannot be unpacked: it is damaged or cut off";
  if (!(error instanceof ClickHouseError)) return undefined;
  if (error.type === "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO") return OF_COLUMN.exec(error.message)?.[0];
  if (!refusal.test(error.type ?? "")) return undefined;
  const row = unreadableRow(error);
  // The engine's message quotes values of the file, and its codes say nothing to a person.
  if (row !== undefined) return `cannot be read: row ${row} ${UNEVEN}`;
  return CUT_OFF.test(error.type ?? "")
    ? "cannot be read: it is damaged or cut off"
    : "cannot be read: it is damaged, or has a type that is not supported";
}

/** A quote that is not doubled shifts the values of its row, so the engine reports either cause for it. */
const UNEVEN = "has more or fewer values than the header, or a quote within a value that is not doubled";
const CUT_OFF =
  /^(CANNOT_READ_ALL_DATA|UNEXPECTED_END_OF_FILE|INCORRECT_DATA|CANNOT_EXTRACT_TABLE_STRUCTURE)$/;

/** The row at which it could not be read on, 1 being the first one behind the header; undefined when that is not known. */
export function unreadableRow(error: unknown): number | undefined {
  if (!(error instanceof ClickHouseError) || !refusal.test(error.type ?? "")) return undefined;
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  return row === undefined ? undefined : Number(row) - 1;
}

function isCompression(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^Z_|^ZSTD/.test(String(error.code));
}
