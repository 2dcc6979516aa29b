/**
 * Finds partial days that are published with a fuller bill: one with a line for a product that is missing from the
 * partial bill. So an outage of the metrics, or a Prometheus that has dropped its old samples, never removes a line
 * that was billed before. Nor does a line that can no longer be read: beside other lines of its resource and product,
 * it shows in the number of lines, or in the amount without signs.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../../clickhouse/sql-text.js";
import { stagedTable } from "../../../clickhouse/staging.js";
import { readRows } from "../../../clickhouse/statement.js";
import type { StagedDays } from "../measured-facts.js";

/** Returns these days, ascending. `unread`: see `WindowReport.unreadDays`. */
export async function daysWithFullerBill(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  unread: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const stagedBilling = stagedTable("billing", epoch);
  const bill = (table: string) =>
    `(SELECT day, toString(currency) AS currency, count() AS lines, sum(abs(total_cost)) AS amount FROM ${table}
      WHERE day IN {unread:Array(Date)} GROUP BY day, currency)`;
  const read = {
    query: `
      SELECT DISTINCT day FROM (
        SELECT day FROM billing
        WHERE day IN {days:Array(Date)} AND (day, resource_id, product_type) NOT IN (
          SELECT day, resource_id, product_type FROM ${stagedBilling} WHERE day IN {days:Array(Date)}
        )
        UNION ALL
        SELECT published.day FROM ${bill("billing")} AS published
        LEFT JOIN ${bill(stagedBilling)} AS staged ON staged.day = published.day AND staged.currency = published.currency
        WHERE published.lines > staged.lines OR published.amount > staged.amount
      )
      ORDER BY day`,
    params: { days: days.map(isoDay), unread: unread.map(isoDay) },
  };
  return (await readRows<{ day: string }>(client, read, signal, { join_use_nulls: 0 })).map(({ day }) => day);
}
