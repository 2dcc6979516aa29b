/**
 * Assigns to each staged billing line the rule that matches it and the identity that it names. One statement does it
 * for all lines of the days, whatever gathered them, before the hashes of the days are computed.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay, literal } from "../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { whereOf } from "../../config/allocation/condition.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { whereSql } from "./condition-sql.js";
import { identitySql } from "./identity-sql.js";

export interface StagedLines {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly days: readonly string[];
  readonly signal: AbortSignal;
}

/** Returns the name of the first rule that matches, or an empty text, as an expression on the columns of the bill. */
export function ruleSql({ configured, columns }: Pick<AllocationPlan, "configured" | "columns">): string {
  if (configured.length === 0) return "''";
  const cases = configured.map(({ name, where }) => `${whereSql(whereOf(where), columns)}, ${literal(name)}`);
  return `multiIf(${cases.join(", ")}, '')`;
}

export async function assignLines(lines: StagedLines, plan: AllocationPlan): Promise<void> {
  await rewrite(lines, { rule: ruleSql(plan), identity: identitySql(plan), where: "true" });
}

/** Clears rule and identity of lines that were staged as they are published, because another configuration set them. */
export async function unassignLines(lines: StagedLines): Promise<void> {
  await rewrite(lines, { rule: "''", identity: "''", where: "rule != '' OR named_identity != ''" });
}

/** @param where only days with lines that match this are rewritten */
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
  const matchingDays = await readRows<{ staged_day: string }>(client, read, signal);
  await rewriteStagedDays(client, {
    table: "billing",
    epoch,
    signal,
    params: {},
    days: matchingDays.map(({ staged_day }) => staged_day),
    select: `* REPLACE (${rule} AS rule, ${identity} AS named_identity)`,
    where: "true",
  });
}
