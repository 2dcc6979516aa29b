/** The API's tokens, without their secrets. */
import type { Pool } from "pg";
import type { Scope } from "../../domain/scopes.js";
import { instantText } from "../../postgres/instant-text.js";
import { readPostgres } from "../../postgres/statement.js";

export const tokenStates = ["valid", "expired", "revoked"] as const;

/** Instants are `2026-01-01T00:00:00Z`. */
export interface TokenRecord {
  readonly token_id: number;
  readonly name: string;
  readonly scopes: Scope[];
  /** Null means all tenants. */
  readonly tenants: string[] | null;
  readonly state: (typeof tokenStates)[number];
  readonly created_by: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  /** Rounded to the hour. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

const SHOWN = `token_id, name, scopes, tenants,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'valid' END AS state,
  created_by, ${instantText("created_at")} AS created_at, ${instantText("expires_at")} AS expires_at,
  ${instantText("last_used_at")} AS last_used_at, ${instantText("revoked_at")} AS revoked_at`;

/** Returns all tokens, or the one with this id; newest first. */
export async function readTokens(
  postgres: Pool,
  { tokenId = null }: { readonly tokenId?: number | null },
  signal?: AbortSignal,
): Promise<TokenRecord[]> {
  const query = `SELECT ${SHOWN} FROM api_tokens WHERE $1::bigint IS NULL OR token_id = $1 ORDER BY token_id DESC`;
  return await readPostgres<TokenRecord>(postgres, { query, params: [tokenId] }, signal);
}
