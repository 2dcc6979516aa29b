import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../store/clickhouse/statement.js";

/** Sums of a day (or of all days) as decimal text, and how many billing lines differ from their chargebacks. */
export interface DayReconciliation {
  readonly day: string;
  readonly lines: string;
  readonly rows: string;
  readonly billing: string;
  readonly chargebacks: string;
  readonly difference: string;
  /** Lines whose chargebacks do not add up to them, rows without a line counted as one. */
  readonly lines_off: string;
}

export interface Reconciliation {
  readonly days: readonly DayReconciliation[];
  readonly total: Omit<DayReconciliation, "day">;
}

/**
 * Holds all published chargebacks against all published billing, line by line: differences of two lines that cancel out in a
 * day's sum are still found.
 */
function reconciliationQuery(): string {
  return holdAgainstBill({ lines: "billing", rows: "chargebacks", resource: "resource_id" });
}

/**
 * Holds all published attributions to topics against the lines that were attributed: those of product types that have
 * attributions on their day. The sums of `chargebacks` are then those of the attributions.
 */
function attributionReconciliationQuery(): string {
  return holdAgainstBill({
    lines: "billing WHERE (day, product_type) IN (SELECT day, product_type FROM topic_attributions)",
    rows: "topic_attributions",
    resource: "cluster_resource_id",
  });
}

function holdAgainstBill({
  lines,
  rows,
  resource,
}: {
  lines: string;
  rows: string;
  resource: string;
}): string {
  return `
SELECT if(grouping(billed_day) = 0, toString(billed_day), '') AS day, toString(countIf(billed_lines > 0)) AS lines, toString(sum(n)) AS rows,
  toString(sum(billed)) AS billing, toString(sum(charged)) AS chargebacks, toString(sum(charged) - sum(billed)) AS difference,
  toString(countIf(billed != charged OR n = 0 OR billed_lines = 0)) AS lines_off
FROM (
  SELECT toDate(timestamp, 'UTC') AS billed_day, sum(b) AS billed, sum(c) AS charged, sum(lines) AS billed_lines, sum(r) AS n
  FROM (
    SELECT timestamp, env_id, resource_id, product_category, product_type,
      sum(total_cost) AS b, toDecimal128(0, 12) AS c, count() AS lines, toUInt64(0) AS r
    FROM ${lines} GROUP BY timestamp, env_id, resource_id, product_category, product_type
    UNION ALL
    SELECT timestamp, env_id, ${resource}, product_category, product_type,
      toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toUInt64(0), count()
    FROM ${rows} GROUP BY timestamp, env_id, ${resource}, product_category, product_type
  )
  GROUP BY timestamp, env_id, resource_id, product_category, product_type
)
GROUP BY ROLLUP(billed_day) ORDER BY billed_day`;
}

export async function reconcileDays(client: ClickHouseClient, signal: AbortSignal): Promise<Reconciliation> {
  return await reconcile(client, reconciliationQuery(), signal);
}

/** Days that have attributions to topics; none where costs were never attributed. */
export async function reconcileAttributions(
  client: ClickHouseClient,
  signal: AbortSignal,
): Promise<Reconciliation> {
  return await reconcile(client, attributionReconciliationQuery(), signal);
}

/** A store without days has no sums either; other sums without their total were cut off. */
async function reconcile(
  client: ClickHouseClient,
  query: string,
  signal: AbortSignal,
): Promise<Reconciliation> {
  const rows = await readRows<DayReconciliation>(client, { query, params: {} }, signal);
  const nothing = { lines: "0", rows: "0", billing: "0", chargebacks: "0", difference: "0", lines_off: "0" };
  const total = rows.length === 0 ? nothing : rows.find((row) => row.day === "");
  if (total === undefined) throw new Error("the reconciliation has no total");
  return { days: rows.filter((row) => row.day !== ""), total };
}
