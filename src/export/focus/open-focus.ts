/** Streams chargebacks as a FOCUS file. */
import type { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { ExportVersion } from "../../domain/export-versions.js";
import { type ChargebackFilters, chargebackDays } from "../../query/chargebacks/scan.js";
import { readDayCounts } from "../../query/page/position.js";
import type { DateWindow } from "../../query/time/date-window.js";
import type { ExportFormat } from "../format.js";
import { type ExportOptions, openParts } from "../stream.js";
import { type FocusOutColumn, focusOutColumns } from "./columns.js";
import { type FocusFormatName, focusFormats } from "./format.js";
import { billedColumns, focusExport } from "./statement.js";

export interface FocusExportRequest {
  readonly window: DateWindow;
  /** Excludes `partFilters` and tags of chargebacks: the file has all parts of each charge. */
  readonly filters: ChargebackFilters;
  readonly version: ExportVersion;
  readonly format: FocusFormatName;
}

/** Returns the columns of the file: those of the version, and custom columns in the bills of these days. */
export async function readFocusColumns(
  client: ClickHouseClient,
  window: DateWindow,
  version: ExportVersion,
  signal: AbortSignal,
): Promise<FocusOutColumn[]> {
  const billed = await readRows<{ name: string }>(client, billedColumns(window), signal);
  return focusOutColumns(
    version,
    billed.map(({ name }) => name),
  );
}

/** Like `openExport`: a fault in the statement is an ordinary error, a later one destroys the stream. */
export async function openFocusExport(
  client: ClickHouseClient,
  request: FocusExportRequest,
  options: ExportOptions,
): Promise<Readable> {
  const { window, filters, version } = request;
  const columns = await readFocusColumns(client, window, version, options.signal);
  const days = await readDayCounts(client, chargebackDays(window, {}), options.signal);
  const format: ExportFormat = focusFormats[request.format];
  const statements = focusExport({ window, filters, columns }, format, days);
  return openParts(client, { format, columns: columns.map(({ name }) => name), statements }, options);
}
