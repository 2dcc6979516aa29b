/**
 * Checks a FOCUS file. The engine reads it with `file()` through a link in its own folder, because the engine could
 * take the caller's path for a glob pattern or for a path within an archive. Only this process can send statements to
 * the engine. Statements contain nothing from the file except quoted column names.
 */
import { randomUUID } from "node:crypto";
import { symlink, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ClickHouseError } from "@clickhouse/client";
import { focusColumns } from "../columns.js";
import { type CsvOrParquet, UnreadableFileError } from "../format.js";
import { mapColumns, type SourceColumn } from "../map-columns.js";
import { detectVersion, type FocusVersion, focusVersions } from "../version.js";
import { clean } from "./clean.js";
import { loadRows } from "./load.js";
import type { FocusReport } from "./report.js";
import { findingsOf } from "./run-checks.js";
import { ENGINE_MEMORY_GIB, type ScratchEngine } from "./scratch-engine.js";
import { columnsOfFile, recognise, requireClosedQuotes } from "./source.js";
import { summariseCheck } from "./summary.js";

/** A Cost and Usage file has at least this many known columns, including BilledCost. */
const MIN_COLUMNS = 3;

export interface CheckOptions {
  /** Default: detected from the columns. */
  readonly version?: FocusVersion | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `UnreadableFileError` if the file cannot be checked. */
export async function checkFile(
  { client, folder }: ScratchEngine,
  path: string,
  { version: requestedVersion, signal }: CheckOptions = {},
): Promise<FocusReport> {
  const source = await recognise(path);
  // Use a new name each time, because the engine caches the columns of a path.
  const link = join(folder, randomUUID());
  await symlink(resolve(path), link);
  try {
    const sourceColumns = await columnsOfFile(client, link, source, signal);
    const version = requestedVersion ?? versionOf(sourceColumns);
    requireCostAndUsage(sourceColumns);
    const file = mapColumns(sourceColumns, version);
    if (source.format === "CSV") await requireClosedQuotes(client, link, source, signal);
    await loadRows(client, link, source, file, signal);
    const summary = await summariseCheck(client, file, signal);
    const findings = await findingsOf(client, file, signal);
    return {
      file: path,
      ...source,
      focus_version: version,
      version_detected: requestedVersion === undefined,
      ...summary,
      errors: findings.filter(({ level }) => level === "error").length,
      warnings: findings.filter(({ level }) => level === "warning").length,
      findings,
    };
  } catch (error) {
    throw error instanceof ClickHouseError ? problemOf(error, source) : error;
  } finally {
    await unlink(link);
  }
}

function versionOf(sourceColumns: readonly SourceColumn[]): FocusVersion {
  requireCostAndUsage(sourceColumns);
  const version = detectVersion(sourceColumns.map(({ name }) => name));
  if (version !== undefined) return version;
  throw new UnreadableFileError(
    `has no column that shows its version of FOCUS; name it with --focus-version, one of ${focusVersions.join(", ")}`,
  );
}

/** Rejects other files, including other FOCUS datasets. Their reports would only be long lists of missing columns. */
function requireCostAndUsage(sourceColumns: readonly SourceColumn[]): void {
  const names = new Set(sourceColumns.map(({ name }) => name.toLowerCase()));
  const known = focusColumns.filter(({ name }) => names.has(name.toLowerCase()));
  const isInvoices = names.has("invoicedetailgrain");
  if (known.some(({ name }) => name === "BilledCost") && known.length >= MIN_COLUMNS && !isInvoices) return;
  const shown = sourceColumns.slice(0, 5).map(({ name }) => clean(name, 30));
  throw new UnreadableFileError(
    `is not a FOCUS file of Cost and Usage, which has BilledCost and at least ${MIN_COLUMNS - 1} more of the standard's columns; ` +
      `its columns are ${shown.join(", ")}${sourceColumns.length > shown.length ? ", …" : ""}`,
  );
}

/**
 * Converts the engine's error about an unreadable file. Other errors are returned unchanged. The engine quotes values,
 * which must not get into the message.
 */
function problemOf(error: ClickHouseError, { format }: CsvOrParquet): Error {
  const { type = "", message } = error;
  if (type === "MEMORY_LIMIT_EXCEEDED")
    return new UnreadableFileError(`needs more than the engine's memory limit of ${ENGINE_MEMORY_GIB} GiB`);
  if (!unreadable.test(type)) return error;
  const row = /\(at row (\d+)\)/.exec(message)?.[1];
  if (format === "CSV" && row !== undefined)
    return new UnreadableFileError(
      `cannot be read as CSV: row ${Number(row) - 1} behind the header has ${lengthProblem(message)}`,
    );
  return new UnreadableFileError(
    `cannot be read as ${format}: it is damaged, cut off, or has a type that is not supported`,
  );
}

const unreadable =
  /^(CANNOT_|INCORRECT_DATA|UNEXPECTED_|ZLIB|ZSTD|TOO_LARGE|BAD_ARGUMENTS|UNKNOWN_TYPE|NOT_IMPLEMENTED|STD_EXCEPTION|FILE_DOESNT_EXIST|DUPLICATE_COLUMN)/;

function lengthProblem(message: string): string {
  if (message.includes("less columns than expected"))
    return "fewer values than the header, or unescaped quotes";
  if (message.includes("more columns than expected"))
    return "more values than the header, or an unquoted comma";
  return "broken quotes or line ends";
}
