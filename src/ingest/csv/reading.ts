/** Settings with which the engine reads files that are streamed to it. */

/** One thread, so that rows have the numbers that they have in the file; and blocks that fit into little memory, however wide the lines are. */
export const reading = {
  max_threads: 1,
  max_insert_threads: "1",
  max_block_size: "16384",
  min_insert_block_size_rows: "131072",
  min_insert_block_size_bytes: String(64 * 2 ** 20),
  input_format_parquet_preserve_order: 1,
  input_format_parquet_max_block_size: "16384",
} as const;
