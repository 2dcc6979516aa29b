/**
 * Streams the bytes of an export as the engine sends them. Memory stays flat, because nothing is read from the engine
 * until the client reads on.
 */
import { addAbortSignal, Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../clickhouse/engine-bytes.js";
import type { Statement } from "../clickhouse/statement.js";
import { readerError } from "../common/reader-error.js";
import { chargebackDays } from "../query/chargebacks/scan.js";
import { readDayCounts } from "../query/page/position.js";
import { hasTags } from "../query/tags/tag-sql.js";
import { type ExportFormat, exportFormats } from "./format.js";
import { ExportIdleError, type ReaderPace } from "./reader-pace.js";
import { chargebackExport, type ExportContext, type ExportInput, isTagsColumn } from "./statement.js";

const PACE_CHECK_MS = 500;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

export interface ExportOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte until the export is aborted. */
  readonly idleMs: number;
  /** The pace of the client. Undefined: a slow client does not block anybody. */
  readonly pace?: ReaderPace;
  /** Starts the file with a byte order mark, without which Excel does not read a CSV as UTF-8. Default: false. */
  readonly bom?: boolean;
  /** Text before the file's own content, after the byte order mark. */
  readonly head?: string;
}

/** The parts of a file. */
export interface ExportParts {
  readonly format: ExportFormat;
  /** Names of the columns. */
  readonly columns: readonly string[];
  /** At least one. */
  readonly statements: readonly Statement[];
}

/** Reads the state of the tenant that an export depends on. */
export async function readExportContext(
  client: ClickHouseClient,
  { columns, filters, window }: ExportInput,
  signal: AbortSignal,
): Promise<ExportContext> {
  const tagged = columns.some(isTagsColumn) && (await hasTags(client, signal));
  // Unfiltered counts come from the engine's metadata. Filtering pays off only with the metadata column, to leave out
  // days.
  const counted = columns.includes("metadata") ? filters : {};
  return { tagged, days: await readDayCounts(client, chargebackDays(window, counted), signal) };
}

/** `context` is that of an export of the same days and columns, or read. */
export async function openExport(
  client: ClickHouseClient,
  input: ExportInput,
  options: ExportOptions,
  context?: ExportContext,
): Promise<Readable> {
  const known = context ?? (await readExportContext(client, input, options.signal));
  const format: ExportFormat = exportFormats[input.format ?? "csv"];
  return openParts(
    client,
    { format, columns: input.columns, statements: chargebackExport(input, known) },
    options,
  );
}

/**
 * Resolves once the engine begins to write, so that a fault in the statement is still an ordinary error. A later error
 * destroys the stream. Closing the stream early cancels the statement in the store.
 */
export async function openParts(
  client: ClickHouseClient,
  { format, columns, statements }: ExportParts,
  options: ExportOptions,
): Promise<Readable> {
  const { signal } = options;
  const [first, ...others] = statements;
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  const started = first && (await engineBytes(client, first, stopped, format.settings));
  const idle = new AbortController();
  const timer = setTimeout(() => {
    idle.abort(new ExportIdleError(options.idleMs));
  }, options.idleMs);
  const { pace } = options;

  async function* bytes(): AsyncGenerator<Buffer> {
    const pieces = format.pieces(columns);
    try {
      if (options.bom) yield BYTE_ORDER_MARK;
      yield* unlessEmpty(Buffer.from(options.head ?? ""));
      yield* unlessEmpty(pieces.begin());
      for (let index = 0, source = started; source !== undefined; index++) {
        for await (const chunk of pieces.piece(source)) {
          timer.refresh();
          pace?.offered();
          yield chunk;
          pace?.taken(chunk.length);
        }
        const next = others[index];
        source = next && (await engineBytes(client, next, stopped, format.settings));
      }
      yield* unlessEmpty(pieces.end());
    } finally {
      clearTimeout(timer);
      ended.abort();
    }
  }
  const stream = Readable.from(bytes(), { objectMode: false, highWaterMark: 1 << 18 });
  const watch = setInterval(() => {
    try {
      pace?.check();
    } catch (error) {
      idle.abort(error);
    }
  }, PACE_CHECK_MS);
  stream.once("close", () => clearInterval(watch));
  return readerError(addAbortSignal(AbortSignal.any([signal, idle.signal]), stream));
}

function* unlessEmpty(bytes: Buffer): Generator<Buffer> {
  if (bytes.length > 0) yield bytes;
}
