/** Changes of the state of days before they are published, and when a publish cannot be completed. */
import type { Ledger } from "../../domain/ledger.js";
import { inputHashOf } from "../../domain/provisional-hash.js";
import type { PgStatement } from "../../postgres/statement.js";

interface DaysOfRun {
  readonly ledger: Ledger;
  readonly tenantName: string;
  /** Epoch of the run's lease: the fence against other runs. */
  readonly epoch: number;
  readonly days: readonly string[];
}

const HAS_LEASE = "EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)";
/** By the database's clock. A run begins nothing with an expired lease, but may undo what it has begun. */
const HAS_UNEXPIRED_LEASE =
  "EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now())";

/** Updates one row per day that meets the condition. */
function updateDays(
  { ledger, tenantName, epoch, days }: DaysOfRun,
  changes: string,
  condition: string,
): PgStatement {
  return {
    query: `
UPDATE ${ledger.state} SET ${changes}
WHERE tenant_name = $1 AND tracking_date = ANY($3::date[])
  AND ${condition}`,
    params: [tenantName, epoch, days],
  };
}

/** Records that days are about to be swapped in. Updates one row per day, or none if the lease has been lost. */
export function beginPublishing(days: DaysOfRun): PgStatement {
  return updateDays(
    days,
    "publishing_hash = staged_hash",
    `staged_hash IS NOT NULL AND ${HAS_UNEXPIRED_LEASE}`,
  );
}

/**
 * Records that provisional days are about to be swapped in as final, with the published input. Updates rows like
 * `beginPublishing`, but skips a day that waits to be calculated or has changed since.
 */
export function beginSettling(days: DaysOfRun): PgStatement {
  const final = inputHashOf("published_hash");
  return updateDays(
    days,
    `staged_hash = ${final}, publishing_hash = ${final}`,
    `provisional AND staged_hash IS NULL AND publishing_hash IS NULL AND ${HAS_UNEXPIRED_LEASE}`,
  );
}

/** The value of publishing_hash while attributions that do not add up to a new bill are being removed. */
export const WITHDRAWN = "withdrawn";

/**
 * Records that attributions of days are about to be removed. Updates rows like `beginPublishing`; a day may have
 * nothing staged.
 */
export function beginWithdrawing({ tenantName, epoch, days }: Omit<DaysOfRun, "ledger">): PgStatement {
  return {
    query: `
INSERT INTO topic_attribution_dates AS d (tenant_name, tracking_date, publishing_hash)
SELECT $1, day, $4 FROM unnest($3::date[]) AS day
WHERE ${HAS_UNEXPIRED_LEASE}
ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET publishing_hash = excluded.publishing_hash`,
    params: [tenantName, epoch, days, WITHDRAWN],
  };
}

/**
 * Withdraws the intent to publish days whose staged rows are missing, and clears the hash of their published input, so
 * that the next gathering calculates them again.
 */
export function cancelPublishing(days: DaysOfRun): PgStatement {
  return updateDays(days, "publishing_hash = NULL, staged_hash = NULL, published_hash = NULL", HAS_LEASE);
}

/** Records that nothing is staged for the days any more. The next gathering stages them again. */
export function clearStagedInput(days: DaysOfRun): PgStatement {
  return updateDays(days, "staged_hash = NULL", HAS_LEASE);
}
