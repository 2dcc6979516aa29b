import type { Ledger } from "../../../domain/ledger.js";
import type { PgStatement } from "../../../postgres/statement.js";

/** A published day. Its visible data changes only together with its version. */
export interface EmittableDay {
  readonly day: string;
  readonly version: string;
  readonly rows: number;
  /** The store has lost the day, and it has not been recalculated yet. */
  readonly is_lost: boolean;
  /** The day misses data that may still arrive. */
  readonly is_provisional: boolean;
}

/**
 * Selects published days in ascending order. A forced calculation may publish a day with the same hash again, so the
 * version includes the time of the calculation. Days that are being published are left to the next run.
 */
export function emittableDays(input: { ledger: Ledger; tenantName: string }): PgStatement {
  const { state, rows } = input.ledger;
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, ${rows}::float8 AS rows, lost_at IS NOT NULL AS is_lost,
  provisional AS is_provisional,
  concat_ws(' ', published_hash, extract(epoch FROM calculated_at)) AS version
FROM ${state}
WHERE tenant_name = $1 AND calculated_at IS NOT NULL AND publishing_hash IS NULL
ORDER BY tracking_date`,
    params: [input.tenantName],
  };
}
