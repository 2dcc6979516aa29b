/** Valid sessions of browsers. */
import type { Pool } from "pg";
import { instantText } from "../../postgres/instant-text.js";
import { type SessionRules, validSession } from "../../postgres/sessions.js";
import { readPostgres } from "../../postgres/statement.js";

export const sessionKinds = ["token", "oidc"] as const;

/** Instants are `2026-01-01T00:00:00Z`. */
export interface SessionRecord {
  readonly session_id: number;
  readonly kind: (typeof sessionKinds)[number];
  readonly name: string;
  readonly token_id: number | null;
  readonly address: string | null;
  readonly signed_in_at: string;
  /** Rounded to the minute. */
  readonly last_used_at: string;
  /** The latest end. */
  readonly expires_at: string;
}

/** Returns the valid sessions, newest first. */
export async function readSessions(
  postgres: Pool,
  { idle_minutes, max_hours, issuer }: SessionRules,
  signal: AbortSignal,
): Promise<SessionRecord[]> {
  const query = `SELECT s.session_id, CASE WHEN s.token_id IS NULL THEN 'oidc' ELSE 'token' END AS kind, coalesce(t.name, s.name) AS name,
    s.token_id, s.address, ${instantText("s.signed_in_at")} AS signed_in_at, ${instantText("date_trunc('minute', s.last_used_at)")} AS last_used_at,
    ${instantText("least(s.signed_in_at + make_interval(hours => $2::int), t.expires_at)")} AS expires_at
  FROM sessions AS s LEFT JOIN api_tokens AS t USING (token_id)
  WHERE ${validSession("$1", "$2", "$3")} ORDER BY s.session_id DESC`;
  return await readPostgres<SessionRecord>(
    postgres,
    { query, params: [idle_minutes, max_hours, issuer] },
    signal,
  );
}
