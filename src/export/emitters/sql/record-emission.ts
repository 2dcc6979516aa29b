import type { PgStatement } from "../../../postgres/statement.js";
import type { EmissionKey } from "./emission-records.js";

/**
 * Records a written file. Deletes other records with the same path, such as those of the emitter under a former name.
 * Otherwise, neither emitter would ever remove the file.
 */
export function recordEmitted(
  key: EmissionKey,
  written: { span: string; firstDay: string; contentHash: string; file: string; bytes: number },
): PgStatement {
  return {
    query: `
WITH overwritten AS (
  DELETE FROM emissions WHERE tenant_name = $1 AND file = $7 AND (emitter, pipeline, span, first_day) <> ($2, $3, $4, $5::date)
)
INSERT INTO emissions (tenant_name, emitter, pipeline, span, first_day, status, content_hash, file, bytes, emitted_at)
VALUES ($1, $2, $3, $4, $5, 'emitted', $6, $7, $8, now())
ON CONFLICT (tenant_name, emitter, pipeline, span, first_day) DO UPDATE SET
  status = 'emitted', content_hash = excluded.content_hash, file = excluded.file, bytes = excluded.bytes,
  emitted_at = excluded.emitted_at, attempts = 0, last_error = NULL`,
    params: [
      key.tenantName,
      key.emitter,
      key.pipeline,
      written.span,
      written.firstDay,
      written.contentHash,
      written.file,
      written.bytes,
    ],
  };
}

/** Records that files could not be written. What they contained before stays recorded. */
export function recordFailed(
  key: EmissionKey,
  failed: { span: string; firstDays: readonly string[]; error: string },
): PgStatement {
  return {
    query: `
INSERT INTO emissions (tenant_name, emitter, pipeline, span, first_day, status, attempts, last_error)
SELECT $1, $2, $3, $4, first_day, 'failed', 1, $6 FROM unnest($5::date[]) AS first_day
ON CONFLICT (tenant_name, emitter, pipeline, span, first_day) DO UPDATE SET
  status = 'failed', attempts = emissions.attempts + 1, last_error = excluded.last_error`,
    params: [key.tenantName, key.emitter, key.pipeline, failed.span, failed.firstDays, failed.error],
  };
}
