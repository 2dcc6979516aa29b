/** Error messages for files that the engine could not read. They never quote file contents or the engine's codes. */
import { ClickHouseError } from "@clickhouse/client";
import { UnreadableFileError } from "../../focus/index.js";

/** Errors that the content of a file causes. Other errors, such as a full disk, say nothing about the file. */
const fileErrors =
  /^(CANNOT_(PARSE|READ|EXTRACT|CONVERT|DETECT|INSERT|DECOMPRESS)|INCORRECT_DATA|UNEXPECTED_|TOO_LARGE|BAD_ARGUMENTS|UNKNOWN_TYPE|NOT_IMPLEMENTED|STD_EXCEPTION|DUPLICATE_COLUMN)/;

/**
 * The message that a statement throws for a column that is not checked while it is streamed, such as one of Parquet.
 */
export function notUtf8Column(name: string): string {
  return `has a column that is not text in UTF-8: ${JSON.stringify(name)}`;
}
export function tooLongColumn(name: string, characters: number): string {
  return `has a value of more than ${characters} characters in a column: ${JSON.stringify(name)}`;
}
const COLUMN_PROBLEM =
  /has a (column that is not text in UTF-8|value of more than \d+ characters in a column): "(?:[^"\\]|\\.)*"/;

/** Returns a sentence about the file, without its name. Undefined if the file did not cause the error. */
export function unreadable(error: unknown): string | undefined {
  if (error instanceof UnreadableFileError) return error.message;
  if (isCompression(error)) return "cannot be unpacked: it is damaged or cut off";
  if (!(error instanceof ClickHouseError)) return undefined;
  if (error.type === "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO") return COLUMN_PROBLEM.exec(error.message)?.[0];
  if (!fileErrors.test(error.type ?? "")) return undefined;
  const row = unreadableRow(error);
  // The engine's message quotes values of the file, and its codes mean nothing to users.
  if (row !== undefined) return `cannot be read: row ${row} ${UNEVEN}`;
  return CUT_OFF.test(error.type ?? "")
    ? "cannot be read: it is damaged or cut off"
    : "cannot be read: it is damaged, or has a type that is not supported";
}

/** An undoubled quote shifts the values of its row, so the engine may report either cause for it. */
const UNEVEN = "has more or fewer values than the header, or a quote within a value that is not doubled";
const CUT_OFF =
  /^(CANNOT_READ_ALL_DATA|UNEXPECTED_END_OF_FILE|INCORRECT_DATA|CANNOT_EXTRACT_TABLE_STRUCTURE)$/;

/** Returns the row where reading failed; row 1 is the first after the header. Undefined if it is not known. */
export function unreadableRow(error: unknown): number | undefined {
  if (!(error instanceof ClickHouseError) || !fileErrors.test(error.type ?? "")) return undefined;
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  return row === undefined ? undefined : Number(row) - 1;
}

function isCompression(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^Z_|^ZSTD/.test(String(error.code));
}
