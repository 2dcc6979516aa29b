/**
 * Gives each staged line of the bill the rule that takes it and the identity that it names. One statement does it for all lines of
 * the days, whatever gathered them, before the hashes of the days are taken.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { whereOf } from "../../config/allocation/condition.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { isoDay, literal } from "../../store/clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../store/clickhouse/staging.js";
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

/** @param where days with lines for which this holds are rewritten */
async function rewrite(
  { client, epoch, days, signal }: StagedLines,
  { rule, identity, where }: { readonly rule: string; readonly identity: string; readonly where: string },
): Promise<void> {
  if (days.length === 0) return;
  const read = {
    query: `SELECT DISTINCT toString(day) AS staged_day FROM ${stagedTable("billing", epoch)}
      WHERE day IN {days:Array(Date)} AND (${where}) ORDER BY staged_day`,
    params: { days: days.map(isoDay) },
  };
  const concerned = await readRows<{ staged_day: string }>(client, read, signal);
  await rewriteStagedDays(client, {
    ...{ table: "billing", epoch, signal, params: {} },
    days: concerned.map(({ staged_day }) => staged_day),
    select: `* REPLACE (${rule} AS rule, ${identity} AS named_identity)`,
    where: "true",
  });
}
