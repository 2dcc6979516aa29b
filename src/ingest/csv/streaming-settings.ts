/**
 * Settings for files that are streamed to the engine.
 *
 * Blocks stay in one stream up to the point where each row gets its number in the file, however many threads read.
 * After that, two threads sort and write. Blocks fit into little memory, however wide the lines are. Parts are as large
 * as memory allows, because small ones would be merged at once.
 */
export const streamingSettings = {
  max_threads: 2,
  parallelize_output_from_storages: 0,
  max_insert_threads: "2",
  parallel_view_processing: 1,
  max_block_size: "16384",
  min_insert_block_size_rows: "262144",
  min_insert_block_size_bytes: String(128 * 2 ** 20),
  input_format_parquet_preserve_order: 1,
  input_format_parquet_max_block_size: "16384",
} as const;
