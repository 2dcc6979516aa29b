import { type LedgerName, ledgers } from "../../domain/ledger.js";
import type { PgStatement } from "../../postgres/statement.js";
import type { DifferingDay } from "../../stores/facts/check-facts.js";

/**
 * Corrects the state of days that differ between Postgres and the store. A day that is missing from the store counts as
 * not calculated, with the time at which this was noticed. A day with another state counts as published in that state.
 * In: tenant, epoch, days of one ledger. Updates nothing if another run has the lease.
 */
export function correctDifferingDays(input: {
  ledger: LedgerName;
  tenantName: string;
  epoch: number;
  days: readonly DifferingDay[];
}): PgStatement {
  const { state, rows } = ledgers[input.ledger];
  const flag = input.ledger === "chargebacks" ? "chargeback_calculated = d.held," : "";
  return {
    query: `
UPDATE ${state} AS t SET
  published_hash = d.hash, ${rows} = coalesce(d.rows, 0), ${flag}
  calculated_at = CASE WHEN d.held THEN now() ELSE t.calculated_at END, lost_at = CASE WHEN d.held THEN NULL ELSE now() END
FROM (
  SELECT day, hash, rows, hash IS NOT NULL AS held FROM unnest($3::date[], $4::text[], $5::bigint[]) AS u (day, hash, rows)
) AS d
WHERE t.tenant_name = $1 AND t.tracking_date = d.day AND t.publishing_hash IS NULL
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now())`,
    params: [
      input.tenantName,
      input.epoch,
      input.days.map(({ day }) => day),
      input.days.map(({ stored }) => stored?.hash ?? null),
      input.days.map(({ stored }) => stored?.rows ?? null),
    ],
  };
}
