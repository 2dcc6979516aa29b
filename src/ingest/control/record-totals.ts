/** Statements on control totals in Postgres. */
import type { ControlTotal } from "../../domain/control-totals.js";
import type { PgStatement } from "../../postgres/statement.js";
import type { ControlResult } from "../ecosystem.js";

const columns = `delivery_id, day, currency, class, reason, rows, cost, billed, effective`;

function insertTotals(tenantName: string, totals: readonly ControlTotal[]): PgStatement {
  return {
    query: `INSERT INTO control_totals (tenant_name, ${columns})
      SELECT $1, delivery::bigint, day::date, currency, class, reason, rows, cost::numeric, billed::numeric, effective::numeric
      FROM jsonb_to_recordset($2::jsonb) AS t (delivery text, day text, currency text, class text, reason text, rows bigint, cost text, billed text, effective text)`,
    params: [tenantName, JSON.stringify(totals)],
  };
}

/** Changes with the totals, and with it the ETags of responses that show them. */
const recordedNow = "jsonb_build_object('recorded_at', clock_timestamp())";
const markRecorded = `UPDATE tenants SET control_report = coalesce(control_report, '{}') || ${recordedNow} WHERE tenant_name = $1`;

/** Replaces all totals of a tenant and their report. Run in one transaction. */
export function replaceAllTotals(tenantName: string, { totals, ...report }: ControlResult): PgStatement[] {
  return [
    { query: "DELETE FROM control_totals WHERE tenant_name = $1", params: [tenantName] },
    insertTotals(tenantName, totals),
    {
      query: `UPDATE tenants SET control_report = $2::jsonb || ${recordedNow} WHERE tenant_name = $1`,
      params: [tenantName, JSON.stringify(report)],
    },
  ];
}

/** Replaces the totals of the given UTC days. Run in one transaction. */
export function replaceTotalsOfDays(
  tenantName: string,
  days: readonly string[],
  totals: readonly ControlTotal[],
): PgStatement[] {
  return [
    {
      query: "DELETE FROM control_totals WHERE tenant_name = $1 AND day = ANY ($2::date[])",
      params: [tenantName, days],
    },
    insertTotals(tenantName, totals),
    { query: markRecorded, params: [tenantName] },
  ];
}

/**
 * Drops the totals of days before the first kept one. Totals of deliveries stay, because they belong to whole months,
 * and lines before the first kept day have a class of their own while their delivery is kept.
 */
export function dropTotalsBefore(tenantName: string, keepFrom: string): PgStatement {
  return {
    query: `WITH dropped AS (
      DELETE FROM control_totals WHERE tenant_name = $1 AND day < $2 AND delivery_id IS NULL RETURNING 1
    )
    ${markRecorded} AND EXISTS (SELECT FROM dropped)`,
    params: [tenantName, keepFrom],
  };
}

/** Returns one row `{control_report}`, which is null before any totals were recorded. */
export function readControlReport(tenantName: string): PgStatement {
  return { query: "SELECT control_report FROM tenants WHERE tenant_name = $1", params: [tenantName] };
}
