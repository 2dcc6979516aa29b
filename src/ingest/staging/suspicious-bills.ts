/**
 * Holds bills that vanish, which is more often a mistake of the upstream than a real change. If the bill of a published
 * day comes back without a line, or with less than half of its amount in some currency, the day stays as it is
 * published until a second run gets exactly the same bill.
 *
 * Amounts are added up without their signs, because a refund makes a bill larger, not smaller. Days are checked, and
 * not windows: in a window that has lost most of its amount, days have lost it as well, while a single lost day does
 * not show in a month.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { runStatement } from "../../postgres/statement.js";

export interface SuspiciousBills {
  /** Days that stay as they are published, ascending. */
  readonly held: readonly string[];
  /** Days whose bill was the same a second time, ascending. They are accepted. */
  readonly confirmed: readonly string[];
}

export interface SuspiciousBillInput {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly epoch: number;
  /** Days whose bill was gathered. */
  readonly days: readonly string[];
  /** True for runs with `--force`, which accept a smaller bill. */
  readonly force: boolean;
}

export async function holdSuspiciousBills(
  input: SuspiciousBillInput,
  signal: AbortSignal,
): Promise<SuspiciousBills> {
  if (input.days.length === 0) return { held: [], confirmed: [] };
  const suspicious = await suspiciousBills(input, signal);
  const { tenantName, epoch, days, force } = input;
  const { rows } = await runStatement<{ day: string; confirmed: boolean }>(input.postgres, {
    query: RECORD_DOUBTS,
    params: [tenantName, epoch, days, days.map((day) => suspicious.get(day) ?? null)],
  });
  const confirmed = new Set(rows.filter((row) => row.confirmed || force).map(({ day }) => day));
  const ascending = [...suspicious.keys()].sort();
  return {
    held: ascending.filter((day) => !confirmed.has(day)),
    confirmed: ascending.filter((day) => confirmed.has(day)),
  };
}

/**
 * $1 tenant, $2 epoch, $3 days, $4 their suspicious bills. A bill keeps the epoch of the run that found it first; if
 * the bill is complete again or differs, the check restarts. Returns the suspicious days.
 */
const RECORD_DOUBTS = `
  WITH lease AS (
    SELECT 1 FROM leases WHERE tenant_name = $1 AND epoch = $2 FOR SHARE
  ), gathered AS (
    SELECT t.*, d.doubted_bill AS before, d.doubted_epoch AS since
    FROM unnest($3::date[], $4::text[]) AS t (day, bill)
    JOIN tracking_dates AS d ON d.tenant_name = $1 AND d.tracking_date = t.day
    WHERE EXISTS (SELECT 1 FROM lease)
  ), recorded AS (
    UPDATE tracking_dates AS d
    SET doubted_bill = gathered.bill, doubted_epoch = CASE WHEN gathered.bill IS NOT NULL THEN $2::bigint END
    FROM gathered
    WHERE d.tenant_name = $1 AND d.tracking_date = gathered.day AND gathered.before IS DISTINCT FROM gathered.bill
  )
  SELECT to_char(day, 'YYYY-MM-DD') AS day, coalesce(before = bill AND since < $2, false) AS confirmed
  FROM gathered WHERE bill IS NOT NULL`;

/** Returns the lines and amounts of each day that is published with more than twice as much. */
async function suspiciousBills(
  { client, epoch, days }: SuspiciousBillInput,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const bill = (table: string) =>
    `(SELECT day, currency, count() AS lines, sum(abs(total_cost)) AS amount FROM ${table}
      WHERE day IN {days:Array(Date)} GROUP BY day, currency)`;
  const read = {
    query: `
      SELECT toString(published.day) AS day,
             arrayStringConcat(arraySort(groupArray(concat(
               toString(gathered.lines), ' lines, ', toString(gathered.amount), ' ', toString(published.currency)))), '; ') AS bill
      FROM ${bill("billing")} AS published
      LEFT JOIN ${bill(stagedTable("billing", epoch))} AS gathered ON gathered.day = published.day AND gathered.currency = published.currency
      GROUP BY published.day
      HAVING max(gathered.lines = 0 OR gathered.amount * 2 < published.amount)`,
    params: { days: days.map(isoDay) },
  };
  const bills = await readRows<{ day: string; bill: string }>(client, read, signal, { join_use_nulls: 0 });
  return new Map(bills.map(({ day, bill }) => [day, bill]));
}
