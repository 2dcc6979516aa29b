/**
 * Samples of usage, and their sums. Weights are sums of a day. A projection has these sums, so that no sample is read.
 * But grouping the projection's rows by identity takes longer than collecting a few samples of each (decision 6).
 */

/** With at least this many samples per sum, the sums are read. */
export const WORTH_SUMMING = 4;

/**
 * Selects `{day, samples, sums}` of a usage table, in parentheses; no rows for a table without the projection. The
 * numbers come from metadata, without reading any rows.
 */
export function storedSums(table: string): string {
  return `(
    SELECT toDate(partition) AS day, sum(parent_rows) AS samples, sum(rows) AS sums FROM system.projection_parts
    WHERE database = currentDatabase() AND table = '${table}' AND name = 'by_day' AND active AND toDate(partition) IN {days:Array(Date)}
    GROUP BY day
  )`;
}
