/**
 * Assigns to each staged billing line the rule that matches it and the identity that it names, before the hashes of the
 * days are computed. Lines that the engine selects are inserted with both. One statement assigns all other lines of the
 * days, whatever gathered them.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay, literal } from "../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { whereOf } from "../../config/allocation/condition.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { assignedRuleName } from "../../domain/assignment.js";
import { whereSql } from "./condition-sql.js";
import { identitySql, isAssignedSql } from "./identity-sql.js";

export interface StagedLines {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly days: readonly string[];
  readonly signal: AbortSignal;
}

/** Returns the name of the first rule that matches, or an empty text, as an expression on the columns of the bill. */
export function ruleSql(plan: RulesOfLines): string {
  const { configured, columns } = plan;
  const otherwise = assignedRuleSql(plan);
  if (configured.length === 0) return otherwise;
  const cases = configured.map(({ name, where }) => `${whereSql(whereOf(where), columns)}, ${literal(name)}`);
  return `multiIf(${cases.join(", ")}, ${otherwise})`;
}

type RulesOfLines = Pick<AllocationPlan, "configured" | "columns"> &
  Partial<Pick<AllocationPlan, "identity" | "maps" | "assigned">>;

/** Assigned lines that no configured rule takes have a rule of their own, unless that of their product charges them. */
function assignedRuleSql({ identity = [], maps = new Map(), columns, assigned }: RulesOfLines): string {
  if (assigned === undefined || assigned.ruled.length === 0) return "''";
  const { ruled, unruled } = assigned;
  const isAssigned = isAssignedSql({ identity, maps, columns, assigned });
  const isIn = (types: readonly string[]) => `product_type IN (${types.map(literal).join(", ")})`;
  const products = ruled.filter((type) => type !== "*");
  const others = ruled.includes("*") ? literal(assignedRuleName("*")) : "''";
  const cases = [
    `NOT ${isAssigned}, ''`,
    ...(products.length === 0
      ? []
      : [`${isIn(products)}, concat(${literal(assignedRuleName(""))}, toString(product_type))`]),
    ...(unruled.length === 0 ? [] : [`${isIn(unruled)}, ''`]),
  ];
  return `multiIf(${cases.join(", ")}, ${others})`;
}

/** SQL on the columns of the bill. */
export interface LineAssignment {
  readonly rule: string;
  readonly identity: string;
}

export function assignmentSql(plan: AllocationPlan): LineAssignment {
  return { rule: ruleSql(plan), identity: identitySql(plan) };
}

export async function assignLines(lines: StagedLines, plan: AllocationPlan): Promise<void> {
  await rewrite(lines, { ...assignmentSql(plan), where: "true" });
}

/** Clears rule and identity of lines that were staged as they are published, because another configuration set them. */
export async function unassignLines(lines: StagedLines): Promise<void> {
  await rewrite(lines, { rule: "''", identity: "''", where: "rule != '' OR named_identity != ''" });
}

/** @param where only days with lines that match this are rewritten */
async function rewrite(
  { client, epoch, days, signal }: StagedLines,
  { rule, identity, where }: LineAssignment & { readonly where: string },
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
