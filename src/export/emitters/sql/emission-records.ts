import type { PgStatement } from "../../../postgres/statement.js";

/** The record of an emitted file. */
export interface EmissionRecord {
  readonly span: "day" | "month";
  readonly first_day: string;
  readonly status: "emitted" | "failed";
  /** Hash of the file's input; null if it was never written. */
  readonly content_hash: string | null;
  readonly file: string | null;
}

/** Identifies the files of one pipeline of one emitter of a tenant. */
export interface EmissionKey {
  readonly tenantName: string;
  readonly emitter: string;
  readonly pipeline: string;
}

export function emissionRecords({ tenantName, emitter, pipeline }: EmissionKey): PgStatement {
  return {
    query: `
SELECT span, to_char(first_day, 'YYYY-MM-DD') AS first_day, status, content_hash, file
FROM emissions
WHERE tenant_name = $1 AND emitter = $2 AND pipeline = $3
ORDER BY span, first_day`,
    params: [tenantName, emitter, pipeline],
  };
}
