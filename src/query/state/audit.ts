/** The audit log: who changed what, when and from where. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type CursorKey, cursorFingerprint, cursorOf, cutPage, encodeCursor } from "../page/cursor.js";
import type { PageRequest } from "../page/position.js";

export const actorKinds = ["anyone", "token", "oidc", "proxy", "command"] as const;

export interface AuditRecord {
  readonly audit_id: number;
  /** `2026-01-01T00:00:00.123456Z`. */
  readonly at: string;
  readonly actor: string | null;
  readonly actor_kind: (typeof actorKinds)[number];
  readonly token_id: number | null;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly tenant_name: string | null;
  readonly action: string;
  readonly subject: Record<string, unknown>;
}

/** Exact values. */
export interface AuditFilter {
  readonly tenant_name?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
}

const SHOWN = `audit_id, ${instantText("at")} AS at, actor, actor_kind, token_id, address, request_id, tenant_name, action, subject`;
const EXPORT_BATCH = 1000;

/**
 * Selects `{total, entry}`, newest first: one row more than a page if more follow; for an empty page, one row without
 * an entry.
 */
function auditPage(
  filter: AuditFilter,
  { page, page_size }: PageRequest,
  after: CursorKey | undefined,
): PgStatement {
  const { bind, params } = bindings();
  const conditions = (["tenant_name", "actor", "action"] as const).flatMap((column) =>
    filter[column] === undefined ? [] : `${column} = ${bind(filter[column])}`,
  );
  const wanted = ["true", ...conditions].join(" AND ");
  const afterCursor = after ? `audit_id < ${bind(after[0])}::bigint` : "true";
  return {
    query: `
SELECT total, CASE WHEN audit_id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) END AS entry
FROM (SELECT count(*) AS total FROM audit_entries WHERE ${wanted}) AS counted
LEFT JOIN (
  SELECT * FROM audit_entries WHERE ${wanted} AND ${afterCursor}
  ORDER BY audit_id DESC
  LIMIT ${bind(page_size + 1)} OFFSET ${bind((page - 1) * page_size)}
) AS page ON true
ORDER BY audit_id DESC`,
    params,
  };
}

/** Reads a page of the log. Throws InvalidParameterError for an invalid cursor. */
export async function readAudit(
  pool: Pool,
  filter: AuditFilter,
  input: PageRequest & { readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<{ items: AuditRecord[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ filter });
  const after = cursorOf(input, "audit", fingerprint, ["integer"]);
  const read = auditPage(filter, input, after);
  const rows = await readPostgres<{ total: number; entry: AuditRecord | null }>(pool, read, signal);
  const found = rows.flatMap(({ entry }) => entry ?? []);
  const cursor = ({ audit_id }: AuditRecord) => encodeCursor("audit", fingerprint, [audit_id]);
  return { ...cutPage(found, input.page_size, cursor), total: rows[0]?.total ?? 0 };
}

/** Returns every entry, of a tenant or of all, as a line of JSON, oldest first. */
export async function* auditLines(
  pool: Pool,
  tenantName: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const query = `SELECT ${SHOWN} FROM audit_entries
WHERE audit_id > $1 AND ($2::text IS NULL OR tenant_name = $2) ORDER BY audit_id LIMIT ${EXPORT_BATCH}`;
  let afterCursor = 0;
  for (;;) {
    const params = [afterCursor, tenantName ?? null];
    const entries = await readPostgres<AuditRecord>(pool, { query, params }, signal);
    if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    if (entries.length < EXPORT_BATCH) return;
    afterCursor = entries.at(-1)?.audit_id ?? afterCursor;
  }
}
