/**
 * The tables of sums of chargebacks. They have a partition a month, so that a read of many days opens few parts
 * (docs/decisions/0047-sums-by-month.md). A test checks that this agrees with the migrations.
 */

/** The columns that each groups by besides the day, the smallest table first. */
export const sumKeys = {
  sums_by_reason: [
    "timestamp",
    "product_type",
    "cost_type",
    "allocation_method",
    "allocation_detail",
    "currency",
    "provisional",
  ],
  sums_by_identity: ["timestamp", "identity_id", "cost_type", "currency", "provisional"],
  sums_by_resource: [
    "timestamp",
    "resource_id",
    "product_type",
    "product_category",
    "env_id",
    "cost_type",
    "allocation_method",
    "allocation_detail",
    "currency",
    "provisional",
  ],
} as const;
export type SumTable = keyof typeof sumKeys;
export const sumTables = Object.keys(sumKeys) as SumTable[];

/** Rows of a table of sums, made of chargebacks. */
export function sumsOf(table: SumTable, where: string): string {
  return grouped(table, "count()", `chargebacks WHERE ${where}`);
}

/** The same, made of rows of `sums_by_resource`, which has all of its columns: there are far fewer than chargebacks. */
export function reasonsOf(sumsByResource: string, where: string): string {
  return grouped("sums_by_reason", "sum(row_count)", `${sumsByResource} WHERE ${where}`);
}

function grouped(table: SumTable, count: string, rows: string): string {
  const keys = ["day", ...sumKeys[table]].join(", ");
  return `SELECT ${keys}, sum(amount_hi), sum(amount_lo), ${count} FROM ${rows} GROUP BY ${keys}`;
}
