/** Compares the staged bill of each day with what the upstream's rows add up to, before anything of the day is calculated. */
import type { ClickHouseClient } from "@clickhouse/client";
import { sumText } from "../../numbers/exact.js";
import { isoDay } from "../../store/clickhouse/sql-text.js";
import { stagedTable } from "../../store/clickhouse/staging.js";
import { readRows } from "../../store/clickhouse/statement.js";
import type { BilledAmount } from "../reports.js";

/** Days whose staged amount differs in some currency, with a sentence each. */
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
  for (const each of billed) {
    const sum = sumOf(each);
    sum.delivered = sumText([sum.delivered, each.amount]);
  }
  for (const each of staged) {
    const sum = sumOf(each);
    sum.staged = sumText([sum.staged, each.amount]);
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
