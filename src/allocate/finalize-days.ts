/**
 * Finalizes provisional days that no run gathers any more: their missing data will not come. Nothing else about them
 * changes. Their amounts stay, and so do the rules that they were allocated by, whatever the rules are now.
 */
import { replaceDays } from "../clickhouse/partitions.js";
import { isoDay } from "../clickhouse/sql-text.js";
import { dropStagedDays, stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import type { DayRange } from "../common/days.js";
import { columnsOf, type FactTable } from "../domain/fact-tables.js";
import type { Ledger } from "../domain/ledger.js";
import { inputHashOf } from "../domain/provisional-hash.js";
import { type PgStatement, runStatement } from "../postgres/statement.js";
import type { Publication } from "./allocation-job.js";
import { chargebackLedger, type SplitLedger, topicLedger } from "./ledger.js";
import { publishFinalized } from "./publish.js";

/** How many days one statement copies. */
const DAYS_AT_ONCE = 10;

/** Tables that the swap of a day replaces besides the ledger itself. */
const inputsOf = {
  chargebacks: ["billing", "usage", "identity_sets", "usage_gaps"],
  topic_attributions: ["billing", "topic_usage", "topic_usage_gaps"],
} as const satisfies Readonly<Record<SplitLedger["name"], readonly FactTable[]>>;

/** `gathered` are days that this run has gathered nevertheless. Returns the days that became final, ascending. */
export async function finalizeOldDays(
  publication: Publication,
  { before, gathered }: { readonly before: string; readonly gathered: DayRange },
): Promise<string[]> {
  const finalized = new Set<string>();
  for (const ledger of [chargebackLedger, topicLedger]) {
    const { rows } = await runStatement<OldProvisionalDay>(
      publication.postgres,
      oldProvisionalDays({ ledger, tenantName: publication.tenantName, before, gathered }),
    );
    for (let from = 0; from < rows.length; from += DAYS_AT_ONCE) {
      publication.signal.throwIfAborted();
      const days = rows.slice(from, from + DAYS_AT_ONCE);
      await finalize(publication, ledger, days);
      for (const { day } of days) finalized.add(day);
    }
  }
  return [...finalized].sort();
}

async function finalize(
  publication: Publication,
  ledger: SplitLedger,
  days: readonly OldProvisionalDay[],
): Promise<void> {
  const { client, epoch } = publication;
  const names = days.map(({ day }) => day);
  await dropStagedDays(client, epoch, names, [...inputsOf[ledger.name], ledger.name]);
  for (const table of inputsOf[ledger.name])
    await replaceDays(client, stagedTable(table, epoch), table, names);
  await stageRows(publication, ledger, days);
  const rows = await rowsAsPublished(publication, ledger, names);
  await publishFinalized(
    publication,
    ledger,
    names.map((day) => ({ day, rows: rows.get(day) ?? 0 })),
  );
}

/** Columns of the ledger that change, with their new values. */
const finalColumns: Readonly<Record<string, string>> = {
  provisional: "false",
  revision: "transform(day, {days:Array(Date)}, {revisions:Array(String)}, '')",
};

async function stageRows(
  { client, epoch, signal }: Publication,
  { name }: SplitLedger,
  days: readonly OldProvisionalDay[],
): Promise<void> {
  const stored = columnsOf(name).flatMap<string>(([column]) => (column === "day" ? [] : [column]));
  await client.command({
    query: `
INSERT INTO ${stagedTable(name, epoch)} (${stored.join(", ")})
SELECT ${stored.map((column) => finalColumns[column] ?? column).join(", ")} FROM ${name}
WHERE day IN {days:Array(Date)}`,
    query_params: {
      days: days.map(({ day }) => isoDay(day)),
      revisions: days.map(({ final_hash }) => final_hash),
    },
    abort_signal: signal,
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
  });
}

/**
 * Returns the number of rows by day. Throws if the staged rows of a day differ from the published ones in other
 * columns.
 */
async function rowsAsPublished(
  { client, epoch, signal }: Publication,
  { name }: SplitLedger,
  days: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const columns = columnsOf(name).flatMap(([column]) => (column in finalColumns ? [] : [column]));
  const content = (table: string) => `
SELECT day, count() AS rows, sum(cityHash64(${columns.join(", ")})) AS content FROM ${table}
WHERE day IN {days:Array(Date)} GROUP BY day`;
  const query = `
SELECT toString(published.day) AS day, published.rows AS rows,
       published.rows = staged.rows AND published.content = staged.content AS same
FROM (${content(name)}) AS published
LEFT JOIN (${content(stagedTable(name, epoch))}) AS staged ON published.day = staged.day`;
  const found = await readRows<{ day: string; rows: number; same: number }>(
    client,
    { query, params: { days: days.map(isoDay) } },
    signal,
  );
  const other = found.find(({ same }) => same === 0);
  if (other !== undefined) throw new Error(`${other.day} changed while it was finalized`);
  return new Map(found.map(({ day, rows }) => [day, rows]));
}

/** A provisional day that is not gathered any more, and its hash once it is final. */
interface OldProvisionalDay {
  readonly day: string;
  readonly final_hash: string;
}

/**
 * Selects a ledger's provisional days before `before`, ascending, that nothing waits for and that the store has.
 * `gathered` are days that this run gathered nevertheless. Leaves out days with a staged bill: making one final would
 * replace that bill by the published one.
 */
function oldProvisionalDays(input: {
  ledger: Ledger;
  tenantName: string;
  before: string;
  gathered: DayRange;
}): PgStatement {
  const { ledger, tenantName, before, gathered } = input;
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, ${inputHashOf("published_hash")} AS final_hash FROM ${ledger.state}
WHERE tenant_name = $1 AND tracking_date < $2 AND NOT (tracking_date >= $3 AND tracking_date < $4)
  AND provisional AND staged_hash IS NULL AND publishing_hash IS NULL AND lost_at IS NULL
  AND tracking_date NOT IN (SELECT tracking_date FROM tracking_dates WHERE tenant_name = $1 AND staged_hash IS NOT NULL)
ORDER BY tracking_date`,
    params: [tenantName, before, gathered.start, gathered.end],
  };
}
