/** Chargebacks as a FOCUS file, streamed. */
import type { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import type { ExportVersion } from "../../../config/export-versions.js";
import { readRows } from "../../../store/clickhouse/statement.js";
import { chargebackDays } from "../../chargebacks/days.js";
import type { ChargebackFilters } from "../../chargebacks/scan.js";
import { readDayCounts } from "../../page/days.js";
import type { DateWindow } from "../../time/date-window.js";
import type { ExportFormat } from "../format.js";
import { type ExportOptions, openParts } from "../stream.js";
import { type FocusOutColumn, focusOutColumns } from "./columns.js";
import { type FocusFormatName, focusFormats } from "./format.js";
import { billedColumns, focusExport } from "./statement.js";

export interface FocusExportRequest {
  readonly window: DateWindow;
  /** None of `partFilters`, and no tags of chargebacks: a charge comes with all of its parts. */
  readonly filters: ChargebackFilters;
  readonly version: ExportVersion;
  readonly format: FocusFormatName;
}

/** Columns of the file: those of the version, and those that the bills of these days have of their own. */
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

/** As `openExport`: what is wrong with the statement is an ordinary error, what fails later destroys the stream. */
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
