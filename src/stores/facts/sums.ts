/** Keeps the sums of chargebacks consistent with the chargebacks. */
import type { ClickHouseClient } from "@clickhouse/client";
import { replaceMonths } from "../../clickhouse/partitions.js";
import { isoDay } from "../../clickhouse/sql-text.js";
import { type LeasedStore, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { otherCosts } from "../../domain/other-costs.js";
import { reasonsOf, type SumTable, sumsOf, sumTables } from "../../domain/sum-tables.js";

/** Limits a statement when all sums are rebuilt, which may be years. */
const MONTHS_AT_ONCE = 12;

/**
 * Rebuilds the sums of days from the visible chargebacks, and replaces the months that contain the days, each table in
 * one step. Days without chargebacks have no sums.
 */
export async function rebuildSums(store: LeasedStore, days: readonly string[]): Promise<void> {
  const months = [...new Set(days.map(monthOf))].sort();
  for (let from = 0; from < months.length; from += MONTHS_AT_ONCE) {
    const next = months.slice(from, from + MONTHS_AT_ONCE);
    const within = days.filter((day) => next.includes(monthOf(day)));
    await rebuildMonths(store, within, next);
  }
}

async function rebuildMonths(
  { client, epoch }: LeasedStore,
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
      // On replicas, equal sums of the same days would be dropped as a repeated insert.
      clickhouse_settings: { max_bytes_before_external_group_by: "300000000", insert_deduplicate: 0 },
    });
  };
  const condition = "day IN {days:Array(Date)}";
  await Promise.all([
    make("sums_by_identity", sumsOf("sums_by_identity", condition)),
    (async () => {
      await make("sums_by_resource", sumsOf("sums_by_resource", condition));
      await make("sums_by_reason", reasonsOf(stagedTable("sums_by_resource", epoch), condition));
    })(),
  ]);
  const mismatches = await mismatchedDays(client, (table) => stagedTable(table, epoch), days);
  if (mismatches.length > 0)
    throw new Error(`the sums of ${mismatches.join(", ")} are not those of their chargebacks`);
  await Promise.all(
    sumTables.map(async (table) => {
      const staged = stagedTable(table, epoch);
      await replaceMonths(client, table, staged, months);
      await empty(staged);
    }),
  );
}

/**
 * Rebuilds the sums of days whose number of rows differs from their chargebacks, such as after somebody dropped a day
 * from a store by hand. Returns the days. Only the numbers are compared here: the amounts were compared when the sums
 * were built.
 */
export async function repairSums(store: LeasedStore): Promise<string[]> {
  const days = await mismatchedDays(store.client, (table) => table);
  await rebuildSums(store, days);
  return days;
}

/**
 * Returns the days whose number of chargebacks differs from one of their sums. For given days, amounts are compared as
 * well.
 */
async function mismatchedDays(
  client: ClickHouseClient,
  nameOf: (table: SumTable) => string,
  days?: readonly string[],
): Promise<string[]> {
  const costs = otherCosts.map((name) => `ifNull(sum(${name}), toDecimal128(0, 12))`);
  const amount =
    days === undefined ? "0" : `tuple(${["sum(amount_hi) + sum(amount_lo)", ...costs].join(", ")})`;
  const where = days === undefined ? "" : " WHERE day IN {days:Array(Date)}";
  const added = (from: string, rows: string) =>
    `SELECT day, ${rows} AS n, ${amount} AS amount FROM ${from}${where} GROUP BY day`;
  const sources = [
    added("chargebacks", "count()"),
    ...sumTables.map((table) => added(nameOf(table), "sum(row_count)")),
  ];
  const found = await readRows<{ day: string }>(client, {
    query: `
SELECT day FROM (
${sources.join("\nUNION ALL\n")}
)
GROUP BY day HAVING count() != ${sources.length} OR uniqExact(n, amount) != 1 ORDER BY day`,
    params: days === undefined ? {} : { days },
  });
  return found.map(({ day }) => day);
}

/** The month of a day as a number such as `202601`, the name of its partition. */
function monthOf(day: string): number {
  return Number(isoDay(day).slice(0, 7).replace("-", ""));
}
