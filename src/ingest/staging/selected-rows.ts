/** Statements that insert rows which the engine itself selects into the staging tables of an epoch. */
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import type { GapOfBilled } from "../ecosystem.js";
import { selectedColumns, stagedColumns, type TenantColumns } from "./row-text.js";

/**
 * `select`: rows with the columns `selectedColumns`, by name. If it groups by the sorting key of its table, it holds
 * one group at a time; other groups are spilled to disk if there are many.
 */
export function linesInto(epoch: number, { query, params }: Statement, tenant: TenantColumns): Statement {
  const columns = selectedColumns.join(", ");
  return {
    query: `
INSERT INTO ${stagedTable("billing", epoch)} (ecosystem, tenant_id, ${columns})
SELECT {line_ecosystem:String}, {line_tenant_id:String}, ${columns} FROM (${query})
SETTINGS optimize_aggregation_in_order = 1, max_bytes_before_external_group_by = 268435456`,
    params: { ...params, line_ecosystem: tenant.ecosystem, line_tenant_id: tenant.tenant_id },
  };
}

/** `select`: rows with the columns of a usage fact, by name. */
export function usageInto(epoch: number, { query, params }: Statement): Statement {
  const columns = stagedColumns("usage").join(", ");
  return {
    query: `INSERT INTO ${stagedTable("usage", epoch)} (${columns}) SELECT ${columns} FROM (${query})`,
    params,
  };
}

/** Inserts the gaps of resources with a staged line on the day. A gap without a resource stands for all of them. */
export function gapsOfBilled(epoch: number, gaps: readonly GapOfBilled[]): Statement {
  return {
    query: `
INSERT INTO ${stagedTable("usage_gaps", epoch)} (day, metric, resource_id, reason)
SELECT day, gap.2, resource_id, gap.3
FROM (SELECT DISTINCT day, resource_id FROM ${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)})
ARRAY JOIN arrayFilter(g -> g.1 = day AND g.4 IN ('', toString(resource_id)), arrayZip({days:Array(Date)}, {metrics:Array(String)}, {reasons:Array(String)}, {resources:Array(String)})) AS gap`,
    params: {
      days: gaps.map(({ day }) => isoDay(day)),
      metrics: gaps.map(({ metric }) => metric),
      reasons: gaps.map(({ reason }) => reason),
      resources: gaps.map(({ resource_id = "" }) => resource_id),
    },
  };
}
