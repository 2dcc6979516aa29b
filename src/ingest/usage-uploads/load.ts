/** Loads a file of usage into its partition, and returns the days and metrics that it covers. */
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { type ClickHouseClient, drainStream } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import { readerError } from "../../common/reader-error.js";
import { formatOf, settingsFor } from "../../focus/index.js";
import { csvHeader, longStatement, peeked } from "../csv/header.js";
import { streamingSettings } from "../csv/streaming-settings.js";
import { unreadable, unreadableRow } from "../csv/unreadable.js";
import { withEnd } from "../csv/with-end.js";
import {
  allowedIn,
  MOST_UPLOAD_PROBLEMS,
  RefusedUploadError,
  readHeader,
  refusedFile,
  type UploadColumn,
} from "./columns.js";
import { END, uploadStatement } from "./landing-sql.js";

export interface UploadLimits {
  /** Metrics that may be uploaded. */
  readonly metrics: readonly string[];
  readonly maxBytes: number;
}

/** Most pairs of a day and a metric in one file: all days of centuries, or a hundred metrics of years. */
const MOST_DAY_METRICS = 100_000;

const UNEVEN =
  "Must have as many values as the header, every quote closed, and quotes within a value doubled.";

/** The file is longer than allowed. */
export class UploadTooLargeError extends Error {
  override readonly name = "UploadTooLargeError";
}

export interface LoadedUpload {
  /** SHA-256 of its bytes. */
  readonly digest: string;
  readonly size: number;
  readonly rows: number;
  /** Ascending and distinct. */
  readonly covers: readonly { readonly day: string; readonly metric: string }[];
}

/**
 * Throws `RefusedUploadError`, `UploadTooLargeError` and what the stream throws. Then the partition has to be dropped.
 */
export async function loadUpload(
  client: ClickHouseClient,
  { uploadId, body }: { readonly uploadId: string; readonly body: Readable },
  limits: UploadLimits,
  signal: AbortSignal,
): Promise<LoadedUpload> {
  const measured = measuredBytes(body, limits.maxBytes);
  let streamError: unknown;
  measured.bytes.once("error", (error) => {
    streamError = error;
  });
  try {
    const [head, all] = await peeked(measured.bytes, 4);
    const { format, compression } = formatOf(head, "CSV that is not compressed");
    if (format !== "CSV" || compression !== "none")
      throw refusedFile("The file must be CSV, and not compressed.");
    const { sourceColumns, separator, text } = await csvHeader(all);
    const header = readHeader(sourceColumns);
    const endMark = `end ${randomUUID()}`;
    const endRow = `${endMark}${separator.repeat(sourceColumns.length - 1)}\n`;
    const { stream } = await client.exec({
      query: uploadStatement({ uploadId, header, metrics: limits.metrics, endMark }),
      values: Readable.from(withEnd(text, endRow), { objectMode: false }),
      abort_signal: signal,
      clickhouse_settings: { ...settingsFor(separator), ...streamingSettings, ...longStatement },
    });
    await drainStream(stream);
  } catch (error) {
    signal.throwIfAborted();
    const cause = streamError ?? error;
    const row = unreadableRow(cause);
    if (row !== undefined) throw new RefusedUploadError([{ row, column: null, detail: UNEVEN }]);
    const problem = unreadable(cause);
    throw problem === undefined ? cause : refusedFile(`The file ${problem}.`);
  } finally {
    body.destroy();
  }
  const rows = await requireAccepted(client, uploadId, limits.metrics, signal);
  return { ...measured.sums(), rows, covers: await covered(client, uploadId, signal) };
}

/** Counts and digests the bytes while they are read. */
export function measuredBytes(body: Readable, maxBytes: number) {
  const hash = createHash("sha256");
  let size = 0;
  async function* measured() {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw new UploadTooLargeError(`longer than ${maxBytes} bytes`);
      hash.update(bytes);
      yield bytes;
    }
  }
  return {
    bytes: readerError(Readable.from(measured(), { objectMode: false })),
    /** Valid once all bytes are read. */
    sums: () => ({ digest: hash.digest("hex"), size }),
  };
}

async function requireAccepted(
  client: ClickHouseClient,
  uploadId: string,
  metrics: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const params = { upload_id: uploadId };
  const [counts] = await readRows<{ rows: number; ends: number; day_metrics: number }>(
    client,
    {
      query: `SELECT toFloat64(countIf(refused != '${END}')) AS rows, toUInt32(countIf(refused = '${END}')) AS ends,
          toFloat64(uniqExactIf((day, metric), refused = '')) AS day_metrics
        FROM usage_uploads WHERE upload_id = {upload_id:UInt64}`,
      params,
    },
    signal,
  );
  if (counts?.ends !== 1) throw refusedFile("A quote in the file is not closed, or the file is cut off.");
  if (counts.rows === 0)
    throw refusedFile("The file has no rows: a row with quantity 0 says that nothing was used.");
  const refused = await readRows<{ row: number; refused: UploadColumn }>(
    client,
    {
      query: `SELECT toFloat64(row) AS row, refused FROM usage_uploads
        WHERE upload_id = {upload_id:UInt64} AND refused NOT IN ('', '${END}') ORDER BY row LIMIT ${MOST_UPLOAD_PROBLEMS}`,
      params,
    },
    signal,
  );
  if (refused.length > 0)
    throw new RefusedUploadError(
      refused.map(({ row, refused: column }) => ({ row, column, detail: allowedIn(column, metrics) })),
    );
  if (counts.day_metrics > MOST_DAY_METRICS)
    throw refusedFile(`The file must cover at most ${MOST_DAY_METRICS} pairs of a day and a metric.`);
  return counts.rows;
}

async function covered(client: ClickHouseClient, uploadId: string, signal: AbortSignal) {
  return await readRows<{ day: string; metric: string }>(
    client,
    {
      query: `SELECT DISTINCT toString(day) AS day, toString(metric) AS metric FROM usage_uploads
        WHERE upload_id = {upload_id:UInt64} AND refused = '' ORDER BY day, metric`,
      params: { upload_id: uploadId },
    },
    signal,
  );
}
