/**
 * Checks a FOCUS file. The engine reads it with `file()`, under a name of ours in its own folder: a path of the caller could hold what the
 * engine takes for a pattern of several files, or for a place in an archive. Only this process can send statements to the engine, all of
 * them are ours, and what comes from the file stands in no statement but as quoted names of columns.
 */
import { randomUUID } from "node:crypto";
import { symlink, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ClickHouseError } from "@clickhouse/client";
import { focusColumns } from "../columns.js";
import { readColumns, type WrittenColumn } from "../file.js";
import { type Source, UnreadableFile } from "../format.js";
import { detectVersion, type FocusVersion, focusVersions } from "../version.js";
import { clean } from "./clean.js";
import { findingsOf } from "./findings.js";
import { loadRows } from "./load.js";
import type { FocusReport } from "./report.js";
import { ENGINE_MEMORY_GIB, type ScratchEngine } from "./scratch-engine.js";
import { columnsOfFile, recognise, requireClosedQuotes } from "./source.js";
import { summarise } from "./summary.js";

/** So many known columns, BilledCost among them, make a file one of Cost and Usage. */
const LEAST_COLUMNS = 3;

export interface CheckOptions {
  /** By default the version is told from the columns. */
  readonly version?: FocusVersion | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `UnreadableFile` where there is nothing to check. */
export async function checkFile(
  { client, folder }: ScratchEngine,
  path: string,
  { version: given, signal }: CheckOptions = {},
): Promise<FocusReport> {
  const source = await recognise(path);
  // A name of its own: the engine remembers the columns of a path that it has seen.
  const link = join(folder, randomUUID());
  await symlink(resolve(path), link);
  try {
    const written = await columnsOfFile(client, link, source, signal);
    const version = given ?? versionOf(written);
    requireCostAndUsage(written);
    const file = readColumns(written, version);
    if (source.format === "CSV") await requireClosedQuotes(client, link, source, signal);
    await loadRows(client, link, source, file, signal);
    const summary = await summarise(client, file, signal);
    const findings = await findingsOf(client, file, signal);
    return {
      file: path,
      ...source,
      focus_version: version,
      version_detected: given === undefined,
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

function versionOf(written: readonly WrittenColumn[]): FocusVersion {
  requireCostAndUsage(written);
  const version = detectVersion(written.map(({ name }) => name));
  if (version !== undefined) return version;
  throw new UnreadableFile(
    `has no column that tells its version of FOCUS; name it with --focus-version, one of ${focusVersions.join(", ")}`,
  );
}

/** Other datasets of FOCUS, and other files, would only be long lists of missing columns. */
function requireCostAndUsage(written: readonly WrittenColumn[]): void {
  const names = new Set(written.map(({ name }) => name.toLowerCase()));
  const known = focusColumns.filter(({ name }) => names.has(name.toLowerCase()));
  const isInvoices = names.has("invoicedetailgrain");
  if (known.some(({ name }) => name === "BilledCost") && known.length >= LEAST_COLUMNS && !isInvoices) return;
  const shown = written.slice(0, 5).map(({ name }) => clean(name, 30));
  throw new UnreadableFile(
    `is not a FOCUS file of Cost and Usage, which has BilledCost and at least ${LEAST_COLUMNS - 1} more of the standard's columns; ` +
      `its columns are ${shown.join(", ")}${written.length > shown.length ? ", …" : ""}`,
  );
}

/** What the engine says of a file that it cannot read; anything else is an error of ours. It quotes values, which stay out of the message. */
function problemOf(error: ClickHouseError, { format }: Source): Error {
  const { type = "", message } = error;
  if (type === "MEMORY_LIMIT_EXCEEDED")
    return new UnreadableFile(`needs more than the engine's memory limit of ${ENGINE_MEMORY_GIB} GiB`);
  if (!unreadable.test(type)) return error;
  const row = /\(at row (\d+)\)/.exec(message)?.[1];
  if (format === "CSV" && row !== undefined)
    return new UnreadableFile(
      `cannot be read as CSV: row ${Number(row) - 1} behind the header has ${lengthProblem(message)}`,
    );
  return new UnreadableFile(
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
