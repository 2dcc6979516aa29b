/**
 * Gives each staged line of the bill the rule that takes it and the identity that it names. One statement does it for all lines of
 * the days, whatever gathered them, before the hashes of the days are taken.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { whereOf } from "../../config/allocation/condition.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { literal } from "../../store/clickhouse/sql-text.js";
import { isoDay, stagedTable } from "../../store/clickhouse/staging.js";
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

export async function assignLines(
  { client, epoch, days, signal }: StagedLines,
  plan: AllocationPlan,
): Promise<void> {
  if (days.length === 0) return;
  await update(client, epoch, days, signal, { rule: ruleSql(plan), identity: identitySql(plan), where: "" });
}

/** Lines that were staged as they are published lose what another configuration gave them. */
export async function unassignLines({ client, epoch, days, signal }: StagedLines): Promise<void> {
  if (days.length === 0) return;
  const where = " AND (rule != '' OR named_identity != '')";
  await update(client, epoch, days, signal, { rule: "''", identity: "''", where });
}

async function update(
  client: ClickHouseClient,
  epoch: number,
  days: readonly string[],
  signal: AbortSignal,
  { rule, identity, where }: { readonly rule: string; readonly identity: string; readonly where: string },
): Promise<void> {
  await client.command({
    query: `ALTER TABLE ${stagedTable("billing", epoch)} UPDATE rule = ${rule}, named_identity = ${identity}
      WHERE day IN {days:Array(Date)}${where}`,
    query_params: { days: days.map(isoDay) },
    clickhouse_settings: { mutations_sync: "1" },
    abort_signal: signal,
  });
}
