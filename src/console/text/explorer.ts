/** Texts of the explorer. */
export const explorerTexts = {
  title: "Explorer",
  groupBy: "Group by",
  thenBy: "then by",
  nothing: "nothing",
  buckets: "Each bar",
  bucketNames: { day: "a day", week: "a week", month: "a month", hour: "an hour" } as Readonly<
    Record<string, string>
  >,
  top: "Show",
  topOf: (count: number) => `top ${count}`,
  compare: "Compare with",
  comparisons: { previous: "the period before", year: "a year earlier", days: "other days" },
  table: "Table of",
  sums: "sums",
  overTime: "amounts over time",
  tooManyColumns: (buckets: number) =>
    `${buckets.toLocaleString("en")} columns are too many for a table. Choose longer bars or fewer days.`,
  chart: "Chart",
  bars: "bars",
  area: "areas",
  parts: { own: "Own", shared: "Shared", passed: "Passed on", unallocated: "Unallocated" },
  export: "Export these rows",
  files: { csv: "CSV", excel: "CSV for Excel", parquet: "Parquet" },
  sql: "SQL",
  sqlOverTime: "SQL over time",
  json: "This query in the API",
  everything: "Everything",
  path: "Applied filters",
  noRows: "Nothing matches",
  noRowsHint: "Remove a filter, or choose other days.",
  provisionalGroup: "includes provisional days",
} as const;
