/** The file formats of an export, and how a file is joined from what the engine writes for a few days at a time. */
import type { ClickHouseSettings } from "@clickhouse/client";
import { arrowPieces } from "./arrow-pieces.js";
import { csvSettings } from "./csv-cell.js";
import { parquetPieces } from "./parquet-pieces.js";

/** Makes one file of several; each piece is passed on as it comes. */
export interface Pieces {
  begin(): Buffer;
  piece(source: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  end(): Buffer;
}

export interface ExportFormat {
  readonly mediaType: string;
  readonly extension: string;
  /** What the engine calls it. */
  readonly engineFormat: string;
  readonly settings: ClickHouseSettings;
  /** Cells are text; else they keep their types. */
  readonly isText: boolean;
  pieces(columns: readonly string[]): Pieces;
}

const nothing = () => Buffer.alloc(0);

/** The first is what a client gets that does not care. */
export const exportFormats = {
  csv: {
    mediaType: "text/csv",
    extension: "csv",
    engineFormat: "CustomSeparated",
    settings: csvSettings,
    isText: true,
    // The engine writes lines alone.
    pieces: (columns) => ({
      begin: () => Buffer.from(`${columns.join(",")}\n`),
      piece: (source) => source,
      end: nothing,
    }),
  },
  parquet: {
    mediaType: "application/vnd.apache.parquet",
    extension: "parquet",
    engineFormat: "Parquet",
    settings: { output_format_parquet_compression_method: "zstd", output_format_parquet_string_as_string: 1 },
    isText: false,
    pieces: parquetPieces,
  },
  arrow: {
    mediaType: "application/vnd.apache.arrow.stream",
    extension: "arrows",
    engineFormat: "ArrowStream",
    // No dictionaries: each batch stands for itself, whichever piece it comes from. No compression: Arrow's own JavaScript reads none.
    settings: {
      output_format_arrow_compression_method: "none",
      output_format_arrow_low_cardinality_as_dictionary: 0,
      output_format_arrow_string_as_string: 1,
    },
    isText: false,
    pieces: arrowPieces,
  },
} as const satisfies Record<string, ExportFormat>;

export type ExportFormatName = keyof typeof exportFormats;

export const exportFormatNames = Object.keys(exportFormats) as ExportFormatName[];
