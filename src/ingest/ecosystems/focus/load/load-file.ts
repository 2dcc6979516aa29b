/** Reads one file of a delivery into the landing table. */
import { type ClickHouseClient, drainStream } from "@clickhouse/client";
import {
  detectVersion,
  type FocusVersion,
  otherDataset,
  settingsFor,
  UnreadableFileError,
} from "../../../../focus/index.js";
import { longStatement } from "../../../csv/header.js";
import { streamingSettings } from "../../../csv/streaming-settings.js";
import { unreadable } from "../../../csv/unreadable.js";
import type { DeliveredFile } from "../sources/delivery.js";
import { hashing } from "./hashing-stream.js";
import type { CostColumn } from "./landing-columns.js";
import { landingStatement } from "./landing-sql.js";
import { openFile } from "./open-file.js";

export interface FileToLoad {
  readonly delivery: string;
  /** Position in the delivery, from 0. */
  readonly at: number;
  readonly file: DeliveredFile;
  readonly cost: CostColumn;
  readonly currency: string | undefined;
}

export interface LoadedFile {
  readonly name: string;
  readonly size: number;
  readonly version: string;
  /** See `DeliveredFile.unit`. */
  readonly unit: string | undefined;
  /**
   * In hexadecimal. Undefined if the last bytes of the file were not needed, such as those after the end of an archive.
   */
  readonly sha256: string | undefined;
  readonly format: "CSV" | "Parquet";
  /** Undefined if its columns fit several versions. */
  readonly focus_version: FocusVersion | undefined;
  /** The kind of file if it is not a bill. Such a file is not loaded. */
  readonly dataset?: string;
}

/** Throws `UnreadableFileError` with the file's name, or what the file throws if it changes. */
export async function loadFile(
  client: ClickHouseClient,
  { delivery, at, file, cost, currency }: FileToLoad,
  signal: AbortSignal,
): Promise<LoadedFile> {
  let streamError: unknown;
  const hashed = hashing(file);
  try {
    const opened = await openFile(client, hashed.file, signal);
    try {
      const { format, sourceColumns, separator, endMark, body } = opened;
      const { name, size, version, unit } = file;
      const names = sourceColumns.map((column) => column.name);
      const loaded = { name, size, version, unit, format, focus_version: detectVersion(names) };
      const dataset = otherDataset(names);
      if (dataset !== undefined) return { ...loaded, sha256: undefined, focus_version: undefined, dataset };
      const { query, columns } = landingStatement({
        delivery,
        file: at,
        format,
        sourceColumns,
        endMark,
        currency,
      });
      requireColumns(columns, { cost, currency });
      body.once("error", (error) => {
        streamError = error;
      });
      const { stream } = await client.exec({
        query,
        values: body,
        abort_signal: signal,
        clickhouse_settings: {
          ...settingsFor(separator),
          ...streamingSettings,
          ...longStatement,
        },
      });
      await drainStream(stream);
      return { ...loaded, sha256: hashed.digest() };
    } finally {
      await opened.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw namedProblem(streamError ?? error, file.name);
  }
}

function requireColumns(
  columns: readonly string[],
  { cost, currency }: { readonly cost: CostColumn; readonly currency: string | undefined },
): void {
  const has = (name: string) => columns.includes(name);
  if (!has("ChargePeriodStart"))
    throw new UnreadableFileError("has no column ChargePeriodStart, so it is no bill of FOCUS");
  if (!has("BillingCurrency") && currency === undefined)
    throw new UnreadableFileError("has no column BillingCurrency: set `currency` to that of its amounts");
  if (has(cost)) return;
  const others = columns.filter((name) => /^(Billed|Effective|Contracted|List)Cost$/.test(name));
  throw new UnreadableFileError(
    `has no column ${cost}, which \`cost\` requires; it has ${others.join(", ") || "no cost"}`,
  );
}

function namedProblem(error: unknown, name: string): unknown {
  const problem = unreadable(error);
  return problem === undefined ? error : new UnreadableFileError(`${JSON.stringify(name)} ${problem}`);
}
