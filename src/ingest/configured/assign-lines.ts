/**
 * Gives each staged line of the bill the rule that takes it and the identity that it names. One statement does it for all lines of
 * the days, whatever gathered them, before the hashes of the days are taken.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { whereOf } from "../../config/allocation/condition.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { isoDay, literal } from "../../store/clickhouse/sql-text.js";
import { ASSIGNED_LINES, dropAssignedLines, stagedTable } from "../../store/clickhouse/staging.js";
import { readRows } from "../../store/clickhouse/statement.js";
import { whereSql } from "./condition-sql.js";
import { identitySql } from "./identity-sql.js";

export interface StagedLines {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly days: readonly string[];
  readonly signal: AbortSignal;
}

/** Name of the first rule whose conditions hold, empty when there is none: an expression on the columns of the bill. */
export function ruleSql({ configured, columns }: Pick<AllocationPlan, "configured" | "columns">): string {
  if (configured.length === 0) return "''";
  const cases = configured.map(({ name, where }) => `${whereSql(whereOf(where), columns)}, ${literal(name)}`);
  return `multiIf(${cases.join(", ")}, '')`;
}

export async function assignLines(lines: StagedLines, plan: AllocationPlan): Promise<void> {
  await rewrite(lines, { rule: ruleSql(plan), identity: identitySql(plan), where: "true" });
}

/** Lines that were staged as they are published lose what another configuration gave them. */
export async function unassignLines(lines: StagedLines): Promise<void> {
  await rewrite(lines, { rule: "''", identity: "''", where: "rule != '' OR named_identity != ''" });
}

/**
 * The lines are copied with their new values, and their days swapped in: the price is that of their own days. A mutation looks at every part
 * of the table, and takes a tenth of a second for each where few run at once: a year of days that wait made each further month take half a minute.
 * @param where days with lines for which this holds are rewritten
 */
async function rewrite(
  { client, epoch, days, signal }: StagedLines,
  { rule, identity, where }: { readonly rule: string; readonly identity: string; readonly where: string },
): Promise<void> {
  if (days.length === 0) return;
  const staged = stagedTable("billing", epoch);
  const read = {
    query: `SELECT DISTINCT toString(day) AS staged_day FROM ${staged} WHERE day IN {days:Array(Date)} AND (${where}) ORDER BY staged_day`,
    params: { days: days.map(isoDay) },
  };
  const concerned = (await readRows<{ staged_day: string }>(client, read, signal)).map(({ staged_day }) =>
    isoDay(staged_day),
  );
  if (concerned.length === 0) return;
  await client.command({
    query: `CREATE OR REPLACE TABLE ${ASSIGNED_LINES} AS ${staged}`,
    abort_signal: signal,
  });
  await client.command({
    query: `INSERT INTO ${ASSIGNED_LINES} SELECT * REPLACE (${rule} AS rule, ${identity} AS named_identity)
      FROM ${staged} WHERE day IN {days:Array(Date)}`,
    query_params: { days: concerned },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  });
  const actions = concerned.map((day) => `REPLACE PARTITION '${day}' FROM ${ASSIGNED_LINES}`);
  await client.command({ query: `ALTER TABLE ${staged} ${actions.join(", ")}`, abort_signal: signal });
  await dropAssignedLines(client);
}
