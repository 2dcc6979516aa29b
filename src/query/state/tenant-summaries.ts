/** Counts calculated and pending dates per tenant. */
import type { Pool } from "pg";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";

export interface TenantDates {
  readonly tenant_name: string;
  /** Dates with input that is not in published chargebacks yet. */
  readonly dates_pending: number;
  readonly dates_calculated: number;
  /** Calculated dates that miss data that may still come. */
  readonly dates_provisional: number;
  /** `YYYY-MM-DD`; null if there is none. */
  readonly last_calculated_date: string | null;
}

/**
 * Selects one row per name, in their order, including tenants that never ran. Pending counts every date that has a
 * bill, even without resources, because nothing else would show such dates.
 */
function tenantDates(tenantNames: readonly string[]): PgStatement {
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
