/**
 * Samples of usage, and their sums. Weights are sums of a day. A projection has them, so that no sample is read, but grouping its rows by identity takes longer
 * than to collect a few samples of each (decision 6).
 */

/** From so many samples to a sum, the sums are read. */
export const WORTH_SUMMING = 4;

/** Rows `{day, samples, sums}` of a table of usage, in parentheses; none of one without the projection. How many parts have how many rows is known without reading them. */
export function storedSums(table: string): string {
  return `(
    SELECT toDate(partition) AS day, sum(parent_rows) AS samples, sum(rows) AS sums FROM system.projection_parts
    WHERE database = currentDatabase() AND table = '${table}' AND name = 'by_day' AND active AND toDate(partition) IN {days:Array(Date)}
    GROUP BY day
  )`;
}
