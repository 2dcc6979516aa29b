/** How many dates of each tenant are calculated, and how many still have to be. */
import type { Pool } from "pg";
import { readPostgres, type Statement } from "../../store/postgres/statement.js";

export interface TenantDates {
  readonly tenant_name: string;
  /** Dates with input that their chargebacks, if any, do not show yet. */
  readonly dates_pending: number;
  readonly dates_calculated: number;
  /** Of these, those that lack something that may still come. */
  readonly dates_provisional: number;
  /** `YYYY-MM-DD`, or null when none is. */
  readonly last_calculated_date: string | null;
}

/**
 * One row for each name, in their order, also for tenants that never ran. Pending counts all dates whose bill is there, also
 * those whose resources are not: nothing else would ever show them.
 */
function tenantDates(tenantNames: readonly string[]): Statement {
  return {
    query: `
SELECT wanted.tenant_name,
  count(d.tenant_name) FILTER (
    WHERE d.staged_hash IS NOT NULL OR (d.billing_gathered AND NOT d.chargeback_calculated)
  )::int AS dates_pending,
  count(d.tenant_name) FILTER (WHERE d.chargeback_calculated)::int AS dates_calculated,
  count(d.tenant_name) FILTER (WHERE d.provisional)::int AS dates_provisional,
  max(d.tracking_date) FILTER (WHERE d.chargeback_calculated)::text AS last_calculated_date
FROM unnest($1::text[]) WITH ORDINALITY AS wanted (tenant_name, position)
LEFT JOIN tracking_dates AS d USING (tenant_name)
GROUP BY wanted.tenant_name, wanted.position
ORDER BY wanted.position`,
    params: [tenantNames],
  };
}

export function readTenantDates(
  pool: Pool,
  tenantNames: readonly string[],
  signal?: AbortSignal,
): Promise<TenantDates[]> {
  return readPostgres<TenantDates>(pool, tenantDates(tenantNames), signal);
}
