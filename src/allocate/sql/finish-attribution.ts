import type { PgStatement } from "../../postgres/statement.js";
import type { PublishedDay } from "./finish-publishing.js";
import { WITHDRAWN } from "./publishing-state.js";

/**
 * Records that attributions of days are visible, or removed if they were to be withdrawn. A withdrawn day still waits
 * for its staged attributions. Updates one row per day, or none if another run has the lease.
 */
export function finishAttribution(input: {
  tenantName: string;
  epoch: number;
  days: readonly PublishedDay[];
}): PgStatement {
  return {
    query: `
UPDATE topic_attribution_dates AS t SET
  published_hash = nullif(t.publishing_hash, $5), publishing_hash = NULL,
  staged_hash = CASE WHEN t.publishing_hash = $5 THEN t.staged_hash END,
  attribution_rows = d.rows, lost_at = NULL, calculated_at = now(),
  attribution_attempts = CASE WHEN t.publishing_hash = $5 THEN t.attribution_attempts ELSE 0 END,
  last_error = CASE WHEN t.publishing_hash = $5 THEN t.last_error END
FROM unnest($3::date[], $4::bigint[]) AS d(day, rows)
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NOT NULL
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)`,
    params: [
      input.tenantName,
      input.epoch,
      input.days.map((day) => day.day),
      input.days.map((day) => day.rows),
      WITHDRAWN,
    ],
  };
}
