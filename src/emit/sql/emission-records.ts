import type { Statement } from "../../store/postgres/statement.js";

/** What is known of one emitted file. */
export interface EmissionRecord {
  readonly span: "day" | "month";
  readonly first_day: string;
  readonly status: "emitted" | "failed";
  /** Of what the file holds; null when nothing was written yet. */
  readonly content_hash: string | null;
  readonly file: string | null;
}

/** Which files: those of one pipeline of one emitter of a tenant. */
export interface EmissionKey {
  readonly tenantName: string;
  readonly emitter: string;
  readonly pipeline: string;
}

export function emissionRecords({ tenantName, emitter, pipeline }: EmissionKey): Statement {
  return {
    query: `
SELECT span, to_char(first_day, 'YYYY-MM-DD') AS first_day, status, content_hash, file
FROM emissions
WHERE tenant_name = $1 AND emitter = $2 AND pipeline = $3
ORDER BY span, first_day`,
    params: [tenantName, emitter, pipeline],
  };
}
