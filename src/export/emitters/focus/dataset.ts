/** The files of a month: how chargebacks are divided into files, and their bytes. */
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../../../clickhouse/engine-bytes.js";
import { readRows } from "../../../clickhouse/statement.js";
import { sumText } from "../../../common/exact-decimal.js";
import type { FocusFileFormat } from "../../../config/settings/emitters.js";
import type { ExportVersion } from "../../../domain/export-versions.js";
import { chargebackDays, type DaySpan } from "../../../query/chargebacks/scan.js";
import { readDayCounts } from "../../../query/page/position.js";
import type { DateWindow } from "../../../query/time/date-window.js";
import type { FocusOutColumn } from "../../focus/columns.js";
import { focusFormats } from "../../focus/format.js";
import { focusPiece, focusSpans, focusTotals, totalled } from "../../focus/statement.js";
import type { ExportFormat } from "../../format.js";
import type { ManifestCurrencyTotals } from "./manifest.js";

export interface Dataset {
  readonly window: DateWindow;
  readonly version: ExportVersion;
  readonly format: FocusFileFormat;
  readonly columns: readonly FocusOutColumn[];
}

/** The days of each file. There is at least one file. */
export async function spansOfDataset(
  client: ClickHouseClient,
  window: DateWindow,
  signal: AbortSignal,
): Promise<DaySpan[]> {
  return focusSpans(await readDayCounts(client, chargebackDays(window, {}), signal));
}

/** Streams the bytes of a file. */
export async function* partBytes(
  client: ClickHouseClient,
  { window, format, columns }: Dataset,
  span: DaySpan,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const exportFormat: ExportFormat = format === "parquet" ? focusFormats.focus_parquet : focusFormats.focus;
  async function* plain() {
    if (exportFormat.isText) yield Buffer.from(`${columns.map(({ name }) => name).join(",")}\n`);
    const piece = focusPiece({ window, filters: {}, columns }, exportFormat, span);
    yield* await engineBytes(client, piece, signal, exportFormat.settings);
  }
  if (format !== "csv.gz") return yield* plain();
  const gzip = createGzip();
  pipeline(Readable.from(plain()), gzip, () => {}); // Errors destroy `gzip`, whose reader gets them.
  yield* gzip as AsyncIterable<Buffer>;
}

type Totals = Omit<ManifestCurrencyTotals, "rows"> & { readonly rows: string };

export async function partTotals(
  client: ClickHouseClient,
  { window, version }: Pick<Dataset, "window" | "version">,
  span: DaySpan,
  signal: AbortSignal,
): Promise<ManifestCurrencyTotals[]> {
  const totals = await readRows<Totals>(client, focusTotals({ window, filters: {} }, version, span), signal);
  return totals.map((each) => ({ ...each, rows: Number(each.rows) }));
}

/** Sums the totals of all parts by currency. */
export function addedTotals(parts: readonly (readonly ManifestCurrencyTotals[])[]): ManifestCurrencyTotals[] {
  const added = new Map<string, ManifestCurrencyTotals>();
  for (const each of parts.flat()) {
    const before = added.get(each.currency);
    added.set(each.currency, before === undefined ? each : addedTo(before, each));
  }
  return [...added.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

function addedTo(before: ManifestCurrencyTotals, each: ManifestCurrencyTotals): ManifestCurrencyTotals {
  const sums = totalled.map((name) => [name, sumText([before[name], each[name]])] as const);
  return { ...before, rows: before.rows + each.rows, ...Object.fromEntries(sums) };
}
