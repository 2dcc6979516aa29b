/** The state of each day of a tenant, with its three flags. */
import type { Pool } from "pg";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";

export interface TrackingDate {
  /** `YYYY-MM-DD`. */
  readonly tracking_date: string;
  readonly billing_gathered: boolean;
  readonly resources_gathered: boolean;
  readonly chargeback_calculated: boolean;
  readonly state: DayStatus;
  /** The day's last error; null if there is none. */
  readonly error: string | null;
  /** When its chargebacks were last published; null if never. */
  readonly last_success: string | null;
  /** The published data misses input that may still come. */
  readonly provisional: boolean;
  /** Data that was missing when the day was last gathered, a sentence each. */
  readonly lacks: string[];
}

/**
 * `outdated`: published, and new input waits to be calculated. `pending`: input waits, and nothing is published.
 * `no_bill`: gathered, and nothing was billed. `failed`: its bill could not be gathered. `lost`: it was published, the
 * store has lost it, and it is not recalculated yet.
 */
export const dayStates = ["published", "outdated", "pending", "no_bill", "failed", "lost"] as const;
export type DayStatus = (typeof dayStates)[number];

/** Selects dates in ascending order; both ends are inclusive. */
function trackingDates(tenantName: string, window: { startDate: string; endDate: string }): PgStatement {
  return {
    query: `
SELECT tracking_date::text,
  coalesce(d.billing_gathered, g.outcome = 'no_bill') AS billing_gathered,
  coalesce(d.resources_gathered, g.outcome = 'no_bill') AS resources_gathered,
  coalesce(d.chargeback_calculated, false) AS chargeback_calculated,
  CASE WHEN d.lost_at IS NOT NULL THEN 'lost'
    WHEN d.chargeback_calculated AND d.staged_hash IS NOT NULL THEN 'outdated'
    WHEN d.chargeback_calculated THEN 'published'
    WHEN d.tracking_date IS NOT NULL THEN 'pending'
    ELSE g.outcome END AS state,
  coalesce(d.last_error, g.error) AS error,
  CASE WHEN d.lost_at IS NULL THEN ${instantText("d.calculated_at")} END AS last_success,
  coalesce(d.provisional, false) AS provisional, coalesce(d.lacks, '{}') AS lacks
FROM (SELECT * FROM tracking_dates WHERE tenant_name = $1 AND tracking_date BETWEEN $2::date AND $3::date) AS d
FULL JOIN (SELECT * FROM gathered_days WHERE tenant_name = $1 AND tracking_date BETWEEN $2::date AND $3::date) AS g
  USING (tracking_date)
ORDER BY tracking_date`,
    params: [tenantName, window.startDate, window.endDate],
  };
}

export function readTrackingDates(
  pool: Pool,
  tenantName: string,
  window: { startDate: string; endDate: string },
  signal?: AbortSignal,
): Promise<TrackingDate[]> {
  return readPostgres<TrackingDate>(pool, trackingDates(tenantName, window), signal);
}
