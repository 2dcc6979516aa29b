/** Uploads of usage, and how much of each is still in effect. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type CursorKey, cursorFingerprint, cursorOf, cutPage, encodeCursor } from "../page/cursor.js";
import type { PageRequest } from "../page/position.js";

export const uploadStates = ["loading", "stored", "refused"] as const;
export type UploadState = (typeof uploadStates)[number];

export interface UsageUploadProblem {
  readonly row: number | null;
  readonly column: string | null;
  readonly detail: string;
}

/** Instants are `2026-01-01T00:00:00Z`. Null means unknown until the upload is stored. */
export interface ListedUsageUpload {
  readonly upload_id: number;
  readonly idempotency_key: string;
  readonly origin: "api" | "folder";
  readonly state: UploadState;
  readonly rows: number | null;
  /** Bytes. */
  readonly size: number | null;
  readonly metrics: string[];
  readonly first_day: string | null;
  readonly last_day: string | null;
  /** Pairs of a day and a metric: those that the upload covered, and those that no newer upload has replaced. */
  readonly day_metrics: number | null;
  readonly day_metrics_in_effect: number;
  readonly problems: UsageUploadProblem[];
  readonly started_at: string;
  readonly ended_at: string | null;
}

const SHOWN = `upload_id, idempotency_key, origin, state, rows, size, metrics, first_day::text AS first_day, last_day::text AS last_day, day_metrics,
  (SELECT count(*) FROM usage_days WHERE usage_days.upload_id = page.upload_id) AS day_metrics_in_effect, problems,
  ${instantText("started_at")} AS started_at, ${instantText("ended_at")} AS ended_at`;

type Input = PageRequest & { readonly state?: UploadState | undefined };

/**
 * Selects `{total, upload}`, newest first: one row more than a page if more follow; for an empty page, one row without
 * an upload.
 */
function uploadPage(
  tenantName: string,
  { page, page_size, state }: Input,
  after: CursorKey | undefined,
): PgStatement {
  const { bind, params } = bindings();
  const tenant = bind(tenantName);
  const wanted = `tenant_name = ${tenant}${state === undefined ? "" : ` AND state = ${bind(state)}`}`;
  const afterCursor = after ? `upload_id < ${bind(after[0])}::bigint` : "true";
  return {
    query: `
SELECT total, CASE WHEN upload_id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) END AS upload
FROM (SELECT count(*) AS total FROM usage_uploads WHERE ${wanted}) AS counted
LEFT JOIN (
  SELECT * FROM usage_uploads WHERE ${wanted} AND ${afterCursor}
  ORDER BY upload_id DESC
  LIMIT ${bind(page_size + 1)} OFFSET ${bind((page - 1) * page_size)}
) AS page ON true
ORDER BY upload_id DESC`,
    params,
  };
}

/** Throws InvalidParameterError for an invalid cursor. */
export async function readUsageUploads(
  pool: Pool,
  tenantName: string,
  input: Input & { readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<{ items: ListedUsageUpload[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ tenantName, state: input.state });
  const after = cursorOf(input, "usage_uploads", fingerprint, ["integer"]);
  const read = uploadPage(tenantName, input, after);
  const rows = await readPostgres<{ total: number; upload: ListedUsageUpload | null }>(pool, read, signal);
  const found = rows.flatMap(({ upload }) => upload ?? []);
  const cursor = ({ upload_id }: ListedUsageUpload) =>
    encodeCursor("usage_uploads", fingerprint, [upload_id]);
  return { ...cutPage(found, input.page_size, cursor), total: rows[0]?.total ?? 0 };
}
