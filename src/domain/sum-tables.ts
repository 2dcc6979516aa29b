/**
 * The tables that sum up chargebacks. They have a partition per month, so that a read of many days opens few parts
 * (docs/decisions/0047-sums-by-month.md). A test checks that this declaration agrees with the migrations.
 */
import { otherCosts } from "./other-costs.js";

/** The columns that each table groups by, besides the day. The smallest table is first. */
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

/** SQL for the rows of a table of sums, from chargebacks. */
export function sumsOf(table: SumTable, where: string): string {
  return grouped(table, "count()", `chargebacks WHERE ${where}`);
}

/**
 * SQL for the rows of `sums_by_reason`, from `sums_by_resource`: it has all needed columns, and far fewer rows than
 * chargebacks.
 */
export function reasonsOf(sumsByResource: string, where: string): string {
  return grouped("sums_by_reason", "sum(row_count)", `${sumsByResource} WHERE ${where}`);
}

function grouped(table: SumTable, count: string, rows: string): string {
  const keys = ["day", ...sumKeys[table]].join(", ");
  const costs = otherCosts.map((name) => `, sum(${name})`).join("");
  return `SELECT ${keys}, sum(amount_hi), sum(amount_lo), ${count}${costs} FROM ${rows} GROUP BY ${keys}`;
}
