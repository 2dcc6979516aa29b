import type { Ledger } from "../../store/ledger.js";
import type { Statement } from "../../store/postgres/statement.js";

/** A day that was published. What is visible of it changes only with its version. */
export interface EmittableDay {
  readonly day: string;
  readonly version: string;
  readonly rows: number;
  /** The store has lost it, and it is not calculated anew yet. */
  readonly is_lost: boolean;
  /** It lacks something that may still come. */
  readonly is_provisional: boolean;
}

/**
 * Days that are published, ascending. In: tenant. A day is published again with the hash it had before, when it is forced:
 * the time of its calculation tells these apart. A day in the middle of its publishing waits for the next run.
 */
export function emittableDays(input: { ledger: Ledger; tenantName: string }): Statement {
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
