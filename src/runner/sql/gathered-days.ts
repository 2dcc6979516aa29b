import type { PgStatement } from "../../postgres/statement.js";

/**
 * Records the outcome of gathering for days that have nothing to publish. In: tenant, all its days, those without a
 * bill, those whose bill failed, and the reasons, in the same order.
 */
export function recordGatheredDays(input: {
  tenantName: string;
  days: readonly string[];
  empty: readonly string[];
  failed: readonly string[];
  reasons: readonly string[];
}): PgStatement {
  return {
    query: `
WITH found AS (
  SELECT day, 'no_bill' AS outcome, NULL AS error FROM unnest($3::date[]) AS day
  UNION ALL
  SELECT day, 'failed', error FROM unnest($4::date[], $5::text[]) AS u (day, error)
), billed AS (
  DELETE FROM gathered_days
  WHERE tenant_name = $1 AND tracking_date = ANY($2::date[]) AND tracking_date NOT IN (SELECT day FROM found)
)
INSERT INTO gathered_days (tenant_name, tracking_date, outcome, error)
SELECT $1, day, outcome, error FROM found
ON CONFLICT (tenant_name, tracking_date) DO UPDATE
SET outcome = excluded.outcome, error = excluded.error, gathered_at = excluded.gathered_at`,
    params: [input.tenantName, input.days, input.empty, input.failed, input.reasons],
  };
}
