/** The file formats of an export, and how to join a file from pieces that the engine writes for a few days each. */
import type { ClickHouseSettings } from "@clickhouse/client";
import { csvOutputSettings } from "../query/csv-cell.js";
import { arrowPieces } from "./arrow-pieces.js";
import { parquetPieces } from "./parquet-pieces.js";

/** Joins several files into one. Each piece is passed on as it arrives. */
export interface Pieces {
  begin(): Buffer;
  piece(source: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  end(): Buffer;
}

export interface ExportFormat {
  readonly mediaType: string;
  readonly extension: string;
  /** The engine's name of the format. */
  readonly engineFormat: string;
  readonly settings: ClickHouseSettings;
  /** Cells are text; otherwise they keep their types. */
  readonly isText: boolean;
  pieces(columns: readonly string[]): Pieces;
}

const noBytes = () => Buffer.alloc(0);

/** The first is the default. */
export const exportFormats = {
  csv: {
    mediaType: "text/csv",
    extension: "csv",
    engineFormat: "CustomSeparated",
    settings: csvOutputSettings,
    isText: true,
    // The engine writes lines without a header.
    pieces: (columns) => ({
      begin: () => Buffer.from(`${columns.join(",")}\n`),
      piece: (source) => source,
      end: noBytes,
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
    // No dictionaries, so that each batch is independent of its piece. No compression: Arrow's own JavaScript library
    // cannot read it.
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
