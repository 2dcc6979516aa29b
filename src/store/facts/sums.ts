/** Keeps the sums of chargebacks what their chargebacks come to. */
import type { ClickHouseClient } from "@clickhouse/client";
import { replaceMonths } from "../clickhouse/partitions.js";
import { isoDay } from "../clickhouse/sql-text.js";
import { type OwnedStoreAt, stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { reasonsOf, type SumTable, sumsOf, sumTables } from "../sum-tables.js";

/** A store whose sums are gone has years of them. */
const MONTHS_AT_ONCE = 12;

/**
 * Makes the sums of days anew, of the chargebacks that are visible, and replaces the months that they are in, of each table in one step. Days without
 * chargebacks have none.
 */
export async function remakeSums(store: OwnedStoreAt, days: readonly string[]): Promise<void> {
  const months = [...new Set(days.map(monthOf))].sort();
  for (let from = 0; from < months.length; from += MONTHS_AT_ONCE) {
    const next = months.slice(from, from + MONTHS_AT_ONCE);
    const within = days.filter((day) => next.includes(monthOf(day)));
    await remakeMonths(store, within, next);
  }
}

async function remakeMonths(
  { client, epoch }: OwnedStoreAt,
  days: readonly string[],
  months: readonly number[],
): Promise<void> {
  const empty = async (staged: string) => await client.command({ query: `TRUNCATE TABLE ${staged} SYNC` });
  const make = async (table: SumTable, sums: string) => {
    const staged = stagedTable(table, epoch);
    await empty(staged);
    await client.command({
      query: `
INSERT INTO ${staged}
SELECT * FROM ${table} WHERE toYYYYMM(day) IN {months:Array(UInt32)} AND day NOT IN {days:Array(Date)}
UNION ALL
${sums}`,
      query_params: { days, months },
      // On replicas, the same sums of the same days would be taken for an insert that was sent twice.
      clickhouse_settings: { max_bytes_before_external_group_by: "300000000", insert_deduplicate: 0 },
    });
  };
  const ofDays = "day IN {days:Array(Date)}";
  await Promise.all([
    make("sums_by_identity", sumsOf("sums_by_identity", ofDays)),
    (async () => {
      await make("sums_by_resource", sumsOf("sums_by_resource", ofDays));
      await make("sums_by_reason", reasonsOf(stagedTable("sums_by_resource", epoch), ofDays));
    })(),
  ]);
  const off = await daysOff(client, (table) => stagedTable(table, epoch), days);
  if (off.length > 0) throw new Error(`the sums of ${off.join(", ")} are not those of their chargebacks`);
  await Promise.all(
    sumTables.map(async (table) => {
      const staged = stagedTable(table, epoch);
      await replaceMonths(client, table, staged, months);
      await empty(staged);
    }),
  );
}

/**
 * Makes the sums anew of days whose rows are not as many as they say, as when somebody has dropped a day from a store by hand. Returns the days.
 * By how many there are: what they come to was compared when they were made.
 */
export async function mendSums(store: OwnedStoreAt): Promise<string[]> {
  const days = await daysOff(store.client, (table) => table);
  await remakeSums(store, days);
  return days;
}

/** Days that have another number of chargebacks than one of their sums says; of certain days also those that come to something else. */
async function daysOff(
  client: ClickHouseClient,
  nameOf: (table: SumTable) => string,
  days?: readonly string[],
): Promise<string[]> {
  const amount = days === undefined ? "0" : "sum(amount_hi) + sum(amount_lo)";
  const where = days === undefined ? "" : " WHERE day IN {days:Array(Date)}";
  const added = (from: string, rows: string) =>
    `SELECT day, ${rows} AS n, ${amount} AS amount FROM ${from}${where} GROUP BY day`;
  const each = [
    added("chargebacks", "count()"),
    ...sumTables.map((table) => added(nameOf(table), "sum(row_count)")),
  ];
  const found = await readRows<{ day: string }>(client, {
    query: `
SELECT day FROM (
${each.join("\nUNION ALL\n")}
)
GROUP BY day HAVING count() != ${each.length} OR uniqExact(n, amount) != 1 ORDER BY day`,
    params: days === undefined ? {} : { days },
  });
  return found.map(({ day }) => day);
}

/** `202601`, as its partition is called. */
function monthOf(day: string): number {
  return Number(isoDay(day).slice(0, 7).replace("-", ""));
}
