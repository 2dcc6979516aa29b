/** How far each day of a tenant is: its three flags. */
import type { Pool } from "pg";
import { type PostgresRead, readPostgres } from "./postgres-read.js";

export interface TrackingDate {
  /** `YYYY-MM-DD`. */
  readonly tracking_date: string;
  readonly billing_gathered: boolean;
  readonly resources_gathered: boolean;
  readonly chargeback_calculated: boolean;
}

/** Dates ascending, both ends inclusive. */
export function trackingDates(
  tenantName: string,
  window: { startDate: string; endDate: string },
): PostgresRead {
  return {
    query: `
SELECT tracking_date::text, billing_gathered, resources_gathered, chargeback_calculated
FROM tracking_dates
WHERE tenant_name = $1 AND tracking_date BETWEEN $2::date AND $3::date
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
