import type { Ledger } from "../../domain/ledger.js";
import { inputHashOf } from "../../domain/provisional-hash.js";
import type { Statement } from "../../postgres/statement.js";

/**
 * Records that days of a ledger are about to be swapped in. Updates one row per day, or none if the lease has been lost
 * by the database's clock: the epoch is the fence.
 */
export function beginPublishing(input: {
  ledger: Ledger;
  tenantName: string;
  epoch: number;
  days: readonly string[];
}): Statement {
  return {
    query: `
UPDATE ${input.ledger.state} SET publishing_hash = staged_hash
WHERE tenant_name = $1 AND tracking_date = ANY($3::date[]) AND staged_hash IS NOT NULL
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now())`,
    params: [input.tenantName, input.epoch, input.days],
  };
}

/**
 * Records that provisional days of a ledger are about to be swapped in as final, with the published input. Updates rows
 * like `beginPublishing`, but skips a day that waits to be calculated or has changed since.
 */
export function beginSettling(input: {
  ledger: Ledger;
  tenantName: string;
  epoch: number;
  days: readonly string[];
}): Statement {
  const settled = inputHashOf("published_hash");
  return {
    query: `
UPDATE ${input.ledger.state} SET staged_hash = ${settled}, publishing_hash = ${settled}
WHERE tenant_name = $1 AND tracking_date = ANY($3::date[]) AND provisional AND staged_hash IS NULL AND publishing_hash IS NULL
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now())`,
    params: [input.tenantName, input.epoch, input.days],
  };
}

/** The value of publishing_hash while attributions that do not add up to a new bill are being removed. */
export const WITHDRAWN = "withdrawn";

/**
 * Records that attributions of days are about to be removed. Updates rows like `beginPublishing`; a day may have
 * nothing staged.
 */
export function beginWithdrawing(input: {
  tenantName: string;
  epoch: number;
  days: readonly string[];
}): Statement {
  return {
    query: `
INSERT INTO topic_attribution_dates AS d (tenant_name, tracking_date, publishing_hash)
SELECT $1, day, $4 FROM unnest($3::date[]) AS day
WHERE EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now())
ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET publishing_hash = excluded.publishing_hash`,
    params: [input.tenantName, input.epoch, input.days, WITHDRAWN],
  };
}
