/** The state of days in Postgres while they are published: the intent, its cancellation, and the result. */
import type { Ledger } from "../../domain/ledger.js";
import { inputHashOf } from "../../domain/provisional-hash.js";
import type { PgStatement } from "../../postgres/statement.js";

/** A day that is visible now, and the number of its chargeback rows. */
export interface PublishedDay {
  readonly day: string;
  readonly rows: number;
}

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
export function beginFinalizing(days: DaysOfRun): PgStatement {
  const final = inputHashOf("published_hash");
  const sameBill = days.ledger.name === "chargebacks" ? ", staged_deliveries = published_deliveries" : "";
  return updateDays(
    days,
    `staged_hash = ${final}, publishing_hash = ${final}${sameBill}`,
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
 * that the next gathering calculates them again. What their deliveries changed is unknown then.
 */
export function cancelPublishing(days: DaysOfRun): PgStatement {
  const changes = "publishing_hash = NULL, staged_hash = NULL, published_hash = NULL";
  const { query, params } = updateDays(days, changes, HAS_LEASE);
  if (days.ledger.name !== "chargebacks") return { query, params };
  return {
    query: `${ofUnpublishedChanges("payers = NULL, sums = NULL, is_published = true")}${query}`,
    params,
  };
}

/** Updates the changes by deliveries that were recorded with the intent to publish the days of `$3`, in one statement with these. */
function ofUnpublishedChanges(changes: string): string {
  return `
WITH changed AS (
  UPDATE delivery_changes SET ${changes}
  WHERE tenant_name = $1 AND NOT is_published AND days && $3::date[] AND ${HAS_LEASE}
)`;
}

/** Records that nothing is staged for the days any more. The next gathering stages them again. */
export function clearStagedInput(days: DaysOfRun): PgStatement {
  return updateDays(days, "staged_hash = NULL", HAS_LEASE);
}

/** A day whose swap began but was not recorded as finished. */
export interface InterruptedDay {
  readonly day: string;
  readonly billing_lines: number;
  readonly publishing_hash: string;
}

/** Selects days of a ledger whose swap began but was not recorded as finished, ascending. */
export function interruptedPublishing(input: { ledger: Ledger; tenantName: string }): PgStatement {
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, billing_lines, publishing_hash FROM ${input.ledger.state}
WHERE tenant_name = $1 AND publishing_hash IS NOT NULL ORDER BY tracking_date`,
    params: [input.tenantName],
  };
}

/** Days whose swap has finished. */
interface FinishedDays {
  readonly tenantName: string;
  readonly epoch: number;
  readonly days: readonly PublishedDay[];
}

/** Updates one row per day, or none if another run has the lease. `$4` has the numbers of rows as `d.rows`. */
function finishDays(
  state: Ledger["state"],
  changes: string,
  { tenantName, epoch, days }: FinishedDays,
  ...more: readonly string[]
): PgStatement {
  return {
    query: `
UPDATE ${state} AS t SET
  ${changes}
FROM unnest($3::date[], $4::bigint[]) AS d(day, rows)
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NOT NULL
  AND ${HAS_LEASE}`,
    params: [tenantName, epoch, days.map(({ day }) => day), days.map(({ rows }) => rows), ...more],
  };
}

/** Records that days are visible: flags, hash and counters in one statement. */
export function finishPublishing(days: FinishedDays): PgStatement {
  const { query, params } = finishDays(
    "tracking_dates",
    `published_hash = t.publishing_hash, publishing_hash = NULL, staged_hash = NULL,
  chargeback_calculated = true, lost_at = NULL, chargeback_rows = d.rows, calculated_at = now(),
  allocation_attempts = 0, last_error = NULL, published_deliveries = t.staged_deliveries,
  first_deliveries = coalesce(t.first_deliveries, CASE WHEN t.published_hash IS NULL THEN t.staged_deliveries END)`,
    days,
  );
  return { query: `${ofUnpublishedChanges("is_published = true")}${query}`, params };
}

/**
 * Records that attributions of days are visible, or removed if they were to be withdrawn. A withdrawn day still waits
 * for its staged attributions.
 */
export function finishAttribution(days: FinishedDays): PgStatement {
  return finishDays(
    "topic_attribution_dates",
    `published_hash = nullif(t.publishing_hash, $5), publishing_hash = NULL,
  staged_hash = CASE WHEN t.publishing_hash = $5 THEN t.staged_hash END,
  attribution_rows = d.rows, lost_at = NULL, calculated_at = now(),
  attribution_attempts = CASE WHEN t.publishing_hash = $5 THEN t.attribution_attempts ELSE 0 END,
  last_error = CASE WHEN t.publishing_hash = $5 THEN t.last_error END`,
    days,
    WITHDRAWN,
  );
}
