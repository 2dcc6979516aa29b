/** Loads the rows of a file into the engine as text, with row numbers. The checks read them as `file_rows`. */
import type { ClickHouseClient } from "@clickhouse/client";
import { identifier, literal } from "../../clickhouse/sql-text.js";
import { csvSettings, csvStructure, settingsText } from "../csv.js";
import type { CsvOrParquet } from "../format.js";
import type { FocusFile } from "../map-columns.js";
import { nullTexts } from "../null-texts.js";
import { writtenText } from "../written-text.js";
import { listSql, ROWS, raw } from "./sql.js";

const TABLE = "loaded_rows";

/**
 * One thread reads, so that row numbers follow the order of the file. Blocks are small, so that files with many columns
 * and long texts fit into the engine's memory.
 */
const loading = {
  max_threads: 1,
  max_insert_threads: 1,
  input_format_parallel_parsing: 0,
  max_block_size: 8192,
  min_insert_block_size_rows: 65_536,
  min_insert_block_size_bytes: 64 * 2 ** 20,
} as const;

/**
 * Each column has its own buffers, so they are small. Parts are read only a few times, so merging them is not worth it.
 * The engine compresses them: a repetitive file that decompresses to a thousand times its size is not stored at that
 * size.
 */
const storing = {
  min_compress_block_size: 65_536,
  max_compress_block_size: 65_536,
  max_bytes_to_merge_at_max_space_in_pool: 1,
  max_bytes_to_merge_at_min_space_in_pool: 1,
} as const;

export async function loadRows(
  client: ClickHouseClient,
  path: string,
  source: CsvOrParquet,
  file: FocusFile,
  signal?: AbortSignal,
): Promise<void> {
  await dropRows(client);
  const columns = file.columns.map(({ column }) => `${identifier(column.name)} Nullable(String)`);
  await run(
    client,
    `CREATE TABLE ${TABLE} (row UInt64, ${columns.join(", ")}) ENGINE = MergeTree ORDER BY row
     SETTINGS ${settingsText(storing)}`,
    signal,
  );
  await run(client, `INSERT INTO ${TABLE} ${selection(path, source, file)}`, signal);
  const views = file.columns.map(({ column: { name } }) => {
    const text = `${TABLE}.${identifier(name)}`;
    return `${text} AS ${raw(name)}, if(${text} = '' OR lower(${text}) IN ${listSql(nullTexts)}, NULL, ${text}) AS ${identifier(name)}`;
  });
  await run(client, `CREATE VIEW ${ROWS} AS SELECT row, ${views.join(", ")} FROM ${TABLE}`, signal);
}

async function dropRows(client: ClickHouseClient): Promise<void> {
  await run(client, `DROP VIEW IF EXISTS ${ROWS}`);
  await run(client, `DROP TABLE IF EXISTS ${TABLE} SYNC`);
}

async function run(client: ClickHouseClient, query: string, signal?: AbortSignal): Promise<void> {
  await client.command({ query, ...(signal && { abort_signal: signal }) });
}

/** The SELECT that reads the file. The first data row is row 1. */
function selection(path: string, { format, compression }: CsvOrParquet, file: FocusFile): string {
  if (format === "CSV") {
    const names = file.columns.map(
      ({ column, index }) => `nullIf(c${index + 1}, '') AS ${identifier(column.name)}`,
    );
    const structure = csvStructure(file.sourceColumns.length);
    return `SELECT row, ${names.join(", ")} FROM (
      SELECT rowNumberInAllBlocks() AS row, * FROM file(${literal(path)}, 'CSV', ${literal(structure)}, '${compression}')
    ) WHERE row > 0 SETTINGS ${settingsText({ ...csvSettings, ...loading })}`;
  }
  const texts = file.columns.map(
    (column) =>
      `${writtenText(`source.${identifier(column.source.name)}`, column.source.type ?? "")} AS ${identifier(column.column.name)}`,
  );
  return `SELECT rowNumberInAllBlocks() + 1 AS row, ${texts.join(", ")} FROM file(${literal(path)}, 'Parquet') AS source
    SETTINGS ${settingsText({ ...loading, input_format_parquet_preserve_order: 1, input_format_parquet_max_block_size: 8192 })}`;
}
