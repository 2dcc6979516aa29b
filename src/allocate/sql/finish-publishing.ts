import type { PgStatement } from "../../postgres/statement.js";

/** A day that is visible now, and the number of its chargeback rows. */
export interface PublishedDay {
  readonly day: string;
  readonly rows: number;
}

/**
 * Records that days are visible: flags, hash and counters in one statement. Updates one row per day, or none if another
 * run has the lease.
 */
export function finishPublishing(input: {
  tenantName: string;
  epoch: number;
  days: readonly PublishedDay[];
}): PgStatement {
  return {
    query: `
UPDATE tracking_dates AS t SET
  published_hash = t.publishing_hash, publishing_hash = NULL, staged_hash = NULL,
  chargeback_calculated = true, lost_at = NULL, chargeback_rows = d.rows, calculated_at = now(),
  allocation_attempts = 0, last_error = NULL
FROM unnest($3::date[], $4::bigint[]) AS d(day, rows)
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NOT NULL
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)`,
    params: [
      input.tenantName,
      input.epoch,
      input.days.map((day) => day.day),
      input.days.map((day) => day.rows),
    ],
  };
}
