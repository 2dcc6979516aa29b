/**
 * Compares the staged bill of each day with the sums of the upstream's rows, before anything of the day is calculated.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { sumText } from "../../common/exact-decimal.js";
import type { BilledAmount } from "../reports.js";

/** Returns the days whose staged amount differs in some currency, with a sentence for each. */
export async function daysThatDiffer(
  client: ClickHouseClient,
  { epoch, days }: { readonly epoch: number; readonly days: readonly string[] },
  billed: readonly BilledAmount[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (days.length === 0) return new Map();
  const staged = await readRows<BilledAmount>(
    client,
    {
      query: `SELECT toString(staged.day) AS day, toString(staged.currency) AS currency, toString(sum(toDecimal256(total_cost, 12))) AS amount
        FROM ${stagedTable("billing", epoch)} AS staged WHERE staged.day IN {days:Array(Date)} GROUP BY staged.day, staged.currency`,
      params: { days: days.map(isoDay) },
    },
    signal,
  );
  const sums = new Map<
    string,
    { readonly day: string; readonly currency: string; delivered: string; staged: string }
  >();
  const sumOf = ({ day, currency }: BilledAmount) => {
    const key = `${day} ${currency}`;
    const sum = sums.get(key) ?? { day, currency, delivered: "0", staged: "0" };
    sums.set(key, sum);
    return sum;
  };
  for (const row of billed) {
    const sum = sumOf(row);
    sum.delivered = sumText([sum.delivered, row.amount]);
  }
  for (const row of staged) {
    const sum = sumOf(row);
    sum.staged = sumText([sum.staged, row.amount]);
  }
  const wanted = new Set(days);
  return new Map(
    [...sums.values()]
      .filter(({ day, delivered, staged }) => wanted.has(day) && delivered !== staged)
      .map(({ day, currency, delivered, staged }) => [
        day,
        `the rows of the bill add up to ${delivered} ${currency}, and ${staged} ${currency} was staged: nothing of the day is calculated`,
      ]),
  );
}
