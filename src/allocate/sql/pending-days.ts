import { isProvisional } from "../../domain/provisional-hash.js";
import type { PgStatement } from "../../postgres/statement.js";
import type { DayMarks } from "../calculate.js";

/** A staged day whose input differs from the published one. */
export interface PendingDay extends DayMarks {
  readonly day: string;
  readonly allocation_attempts: number;
  /** Number of gathered lines. */
  readonly billing_lines: number;
}

export interface PendingChargebacks extends PendingDay {
  /** Ids of deliveries that the published bill of the day does not have. Empty if that is unknown, or nothing is published. */
  readonly new_deliveries: readonly string[];
}

/** Selects days that wait to be calculated, oldest first, whatever their age. */
export function pendingDays(input: { tenantName: string }): PgStatement {
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, ${isProvisional("staged_hash")} AS provisional, staged_hash AS revision,
  allocation_attempts, billing_lines, CASE WHEN published_hash IS NULL OR published_deliveries IS NULL THEN '{}' ELSE ARRAY(
    SELECT id::text FROM unnest(staged_deliveries) AS id WHERE id <> ALL (published_deliveries) ORDER BY id
  ) END AS new_deliveries
FROM tracking_dates
WHERE tenant_name = $1 AND staged_hash IS NOT NULL AND billing_gathered
ORDER BY tracking_date`,
    params: [input.tenantName],
  };
}

/** A day whose attribution is pending. Its chargebacks may be pending, too. */
export interface PendingAttribution extends PendingDay {
  readonly has_pending_chargebacks: boolean;
}

/** Selects days that wait for their topic attribution, oldest first. */
export function pendingAttributions(input: { tenantName: string }): PgStatement {
  return {
    query: `
SELECT to_char(a.tracking_date, 'YYYY-MM-DD') AS day, ${isProvisional("a.staged_hash")} AS provisional, a.staged_hash AS revision, a.billing_lines,
  a.attribution_attempts AS allocation_attempts,
  d.staged_hash IS NOT NULL AS has_pending_chargebacks
FROM topic_attribution_dates AS a
JOIN tracking_dates AS d USING (tenant_name, tracking_date)
WHERE a.tenant_name = $1 AND a.staged_hash IS NOT NULL
ORDER BY a.tracking_date`,
    params: [input.tenantName],
  };
}
