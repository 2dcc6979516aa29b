/** API tokens. Only their hashes are stored, so a token is shown only once, when it is created. */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { Scope } from "../domain/scopes.js";
import { type Actor, addAuditEntry } from "./audit.js";
import { secretHash } from "./secret-hash.js";
import { readPostgres, runStatement } from "./statement.js";
import { type Interruption, withTransaction } from "./transaction.js";

/** Prefix of all tokens, so that people and secret scanners recognise them. */
const PREFIX = "chgt_";
export const TOKEN = /^chgt_[A-Za-z0-9_-]{43}$/;

export const TOKEN_NAME = {
  pattern: "^[A-Za-z0-9._@-]{1,100}$",
  expected: "1 to 100 letters, digits, `.`, `_`, `@` and `-`",
};
export const DEFAULT_DAYS = 90;
export const MAX_DAYS = 3650;

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: all tenants. */
  readonly tenants: readonly string[] | null;
  /** Validity in days from now. */
  readonly days: number;
}

export async function createToken(
  postgres: Pool,
  { name, scopes, tenants, days }: TokenInput,
  actor: Actor,
  stop?: Interruption,
): Promise<{ token_id: number; token: string }> {
  const token = `${PREFIX}${randomBytes(32).toString("base64url")}`;
  const insert = {
    query: `INSERT INTO api_tokens (secret_hash, name, scopes, tenants, created_by, expires_at)
      VALUES ($1, $2, $3, $4, $5, now() + make_interval(days => $6::int)) RETURNING token_id`,
    params: [secretHash(token), name, scopes, tenants, actor.name, days],
  };
  return await withTransaction(
    postgres,
    async (on) => {
      const [created] = (await runStatement<{ token_id: number }>(on, insert)).rows;
      if (created === undefined) throw new Error("a token was created and is not there");
      const subject = { ...created, name, scopes, tenants, days };
      await addAuditEntry(on, actor, { action: "createToken", subject });
      return { ...created, token };
    },
    stop,
  );
}

/** Returns false if there is no such token. A token that is already revoked stays unchanged. */
export async function revokeToken(
  postgres: Pool,
  tokenId: number,
  actor: Actor,
  stop?: Interruption,
): Promise<boolean> {
  const find = {
    query: "SELECT name, revoked_at FROM api_tokens WHERE token_id = $1 FOR UPDATE",
    params: [tokenId],
  };
  return await withTransaction(
    postgres,
    async (on) => {
      const [found] = (await runStatement<{ name: string; revoked_at: Date | null }>(on, find)).rows;
      if (found === undefined || found.revoked_at !== null) return found !== undefined;
      await runStatement(on, {
        query: "UPDATE api_tokens SET revoked_at = now() WHERE token_id = $1",
        params: [tokenId],
      });
      const subject = { token_id: tokenId, name: found.name };
      await addAuditEntry(on, actor, { action: "revokeToken", subject });
      return true;
    },
    stop,
  );
}

export interface ValidToken {
  readonly token_id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly tenants: readonly string[] | null;
}

/** Runs for each request, so that a revoked token is invalid at once in every process. */
const FIND = `
WITH found AS (
  SELECT token_id, name, scopes, tenants, last_used_at FROM api_tokens
  WHERE secret_hash = $1 AND revoked_at IS NULL AND expires_at > now()
), used AS (
  UPDATE api_tokens SET last_used_at = date_trunc('hour', now())
  WHERE token_id = (SELECT token_id FROM found WHERE last_used_at IS NULL OR last_used_at < date_trunc('hour', now()))
)
SELECT token_id, name, scopes, tenants FROM found`;

/** Returns undefined if the text is not a token, or if the token is unknown, expired or revoked. */
export async function findToken(
  postgres: Pool,
  text: string,
  signal?: AbortSignal,
): Promise<ValidToken | undefined> {
  if (!TOKEN.test(text)) return undefined;
  const [found] = await readPostgres<ValidToken>(
    postgres,
    { query: FIND, params: [secretHash(text)] },
    signal,
  );
  return found;
}
