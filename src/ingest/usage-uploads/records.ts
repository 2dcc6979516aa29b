/** Statements on the records of uploads in Postgres. */
import type { PgStatement } from "../../postgres/statement.js";
import type { UploadProblem } from "./columns.js";
import type { LoadedUpload } from "./load.js";

export type UploadOrigin = "api" | "folder";

/** An upload that is stored completely, as returned to the client. */
export interface StoredUpload {
  readonly upload_id: number;
  readonly idempotency_key: string;
  readonly rows: number;
  readonly metrics: string[];
  readonly first_day: string;
  readonly last_day: string;
  /** Ascending. */
  readonly days_to_recalculate: string[];
  readonly days_past_lookback: string[];
}

export interface RecordedUpload {
  readonly state: "stored" | "refused";
  readonly content_digest: string | null;
  readonly problems: readonly UploadProblem[];
  readonly upload: StoredUpload;
}

const STORED = `json_build_object('upload_id', upload_id, 'idempotency_key', idempotency_key, 'rows', rows, 'metrics', metrics,
  'first_day', first_day::text, 'last_day', last_day::text, 'days_to_recalculate', days_to_recalculate,
  'days_past_lookback', days_past_lookback)`;

export interface UploadKey {
  readonly tenantName: string;
  readonly origin: UploadOrigin;
  readonly key: string;
}

/** Returns a `RecordedUpload`, or no row. */
export function readByKey({ tenantName, origin, key }: UploadKey): PgStatement {
  return {
    query: `SELECT state, content_digest, problems, ${STORED} AS upload FROM usage_uploads
      WHERE tenant_name = $1 AND origin = $2 AND idempotency_key = $3 AND state <> 'loading'`,
    params: [tenantName, origin, key],
  };
}

/** Returns id and digest of the last stored version of a file of the folder, or no row. Keys are `NAME@VERSION`. */
export function latestOfFile(tenantName: string, name: string): PgStatement {
  return {
    query: `SELECT upload_id::text, content_digest FROM usage_uploads
      WHERE tenant_name = $1 AND origin = 'folder' AND state = 'stored' AND starts_with(idempotency_key, $2 || '@')
        AND position('@' IN substr(idempotency_key, length($2) + 2)) = 0
      ORDER BY upload_id DESC LIMIT 1`,
    params: [tenantName, name],
  };
}

/** Returns the id of the upload. */
export function beginUpload({ tenantName, origin, key }: UploadKey): PgStatement {
  return {
    query: `INSERT INTO usage_uploads (tenant_name, idempotency_key, origin, state) VALUES ($1, $2, $3, 'loading')
      RETURNING upload_id::text`,
    params: [tenantName, key, origin],
  };
}

export function forgetUpload(uploadId: string): PgStatement {
  return {
    query: "DELETE FROM usage_uploads WHERE upload_id = $1 AND state = 'loading'",
    params: [uploadId],
  };
}

export interface FinishedUpload {
  readonly uploadId: string;
  readonly loaded: LoadedUpload;
  /** First day that runs gather. Days before it are not recalculated. */
  readonly gatheredFrom: string;
}

/**
 * Returns the record, or no row if the upload is no longer loading. Another upload with the same key violates a unique
 * constraint.
 */
export function storeUpload({ uploadId, loaded, gatheredFrom }: FinishedUpload): PgStatement {
  const days = [...new Set(loaded.covers.map(({ day }) => day))].sort();
  const metrics = [...new Set(loaded.covers.map(({ metric }) => metric))].sort();
  return {
    query: `UPDATE usage_uploads SET state = 'stored', content_digest = $2, size = $3, rows = $4, day_metrics = $5, metrics = $6::jsonb,
        first_day = $7, last_day = $8, days_to_recalculate = $9::jsonb, days_past_lookback = $10::jsonb, ended_at = now()
      WHERE upload_id = $1 AND state = 'loading'
      RETURNING ${STORED} AS upload`,
    params: [
      uploadId,
      loaded.digest,
      loaded.size,
      loaded.rows,
      loaded.covers.length,
      JSON.stringify(metrics),
      days[0],
      days.at(-1),
      JSON.stringify(days.filter((day) => day >= gatheredFrom)),
      JSON.stringify(days.filter((day) => day < gatheredFrom)),
    ],
  };
}

/**
 * Takes over the days of an earlier upload with the same rows. Days that others have replaced since then stay with
 * them.
 */
export function takeOverFrom(tenantName: string, before: string, uploadId: string): PgStatement {
  return {
    query: "UPDATE usage_days SET upload_id = $3 WHERE tenant_name = $1 AND upload_id = $2",
    params: [tenantName, before, uploadId],
  };
}

/** Sorted by key, so that two uploads at the same time cannot deadlock. */
export function takeOver(tenantName: string, uploadId: string, covers: LoadedUpload["covers"]): PgStatement {
  return {
    query: `INSERT INTO usage_days (tenant_name, day, metric, upload_id)
      SELECT $1, day, metric, $2 FROM unnest($3::date[], $4::text[]) AS covered (day, metric) ORDER BY day, metric
      ON CONFLICT (tenant_name, day, metric) DO UPDATE SET upload_id = excluded.upload_id`,
    params: [tenantName, uploadId, covers.map(({ day }) => day), covers.map(({ metric }) => metric)],
  };
}

export function refuseUpload(uploadId: string, problems: readonly UploadProblem[]): PgStatement {
  return {
    query:
      "UPDATE usage_uploads SET state = 'refused', problems = $2::jsonb, ended_at = now() WHERE upload_id = $1 AND state = 'loading'",
    params: [uploadId, JSON.stringify(problems)],
  };
}
