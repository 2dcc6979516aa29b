/**
 * Sessions of browsers. A session stands for a token, or for a user of the OpenID Connect issuer. Only hashes of its
 * secrets are stored.
 *
 * The secret rotates: after some minutes, a response carries a new one. The former secret stays valid until the new one
 * is used, because a response can be lost, and for a moment longer, because other tabs have requests in flight.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { Scope } from "../domain/scopes.js";
import { type Actor, addAuditEntry } from "./audit.js";
import { secretHash } from "./secret-hash.js";
import { readPostgres, runStatement } from "./statement.js";
import { type Interruption, withTransaction } from "./transaction.js";

export const SESSION_SECRET = /^chgs_[A-Za-z0-9_-]{43}$/;

/** What decides, besides the table, whether a session is valid. */
export interface SessionRules {
  readonly idle_minutes: number;
  readonly max_hours: number;
  /** Sessions of its users are valid. Undefined if users cannot sign in by an issuer. */
  readonly issuer: string | undefined;
}

/** Whom a session stands for. */
export type SessionOwner =
  | { readonly token_id: number }
  | { readonly issuer: string; readonly name: string; readonly roles: readonly string[] };

const ROTATE_AFTER = "interval '15 minutes'";
const FORMER_VALID = "interval '1 minute'";

/** Condition for a valid session `s`, whose token is `t`. Parameters: idle minutes, hours, issuer. */
export const validSession = (idle: string, hours: string, issuer: string) => `
  s.last_used_at > now() - make_interval(mins => ${idle}::int) AND s.signed_in_at > now() - make_interval(hours => ${hours}::int)
  AND CASE WHEN s.token_id IS NULL THEN s.issuer = ${issuer} ELSE t.revoked_at IS NULL AND t.expires_at > now() END`;

function newSecret(): string {
  return `chgs_${randomBytes(32).toString("base64url")}`;
}

/** Returns the secret for the cookie. It also deletes sessions that are no longer valid. */
export async function createSession(
  postgres: Pool,
  owner: SessionOwner,
  rules: SessionRules,
  actor: Actor,
  stop?: Interruption,
): Promise<{ session_id: number; secret: string }> {
  const { token_id, issuer, name, roles } = {
    token_id: null,
    issuer: null,
    name: null,
    roles: null,
    ...owner,
  };
  const secret = newSecret();
  return await withTransaction(
    postgres,
    async (on) => {
      await runStatement(on, {
        query: `DELETE FROM sessions WHERE session_id IN (
          SELECT session_id FROM sessions AS s LEFT JOIN api_tokens AS t USING (token_id)
          WHERE NOT coalesce(${validSession("$1", "$2", "$3")}, false) FOR UPDATE OF s SKIP LOCKED)`,
        params: [rules.idle_minutes, rules.max_hours, rules.issuer],
      });
      const { rows } = await runStatement<{ session_id: number }>(on, {
        query: `INSERT INTO sessions (secret_hash, token_id, issuer, name, roles, address)
          VALUES ($1, $2, $3, $4, $5, $6) RETURNING session_id`,
        params: [secretHash(secret), token_id, issuer, name, roles, actor.address],
      });
      const [created] = rows;
      if (created === undefined) throw new Error("a session was created and is not there");
      await addAuditEntry(on, actor, { action: "signIn", subject: { ...created } });
      return { ...created, secret };
    },
    stop,
  );
}

export interface ValidSession {
  readonly session_id: number;
  /** Null if the session stands for a token. */
  readonly roles: readonly string[] | null;
  readonly name: string;
  /** The token's; null if the session stands for a user. */
  readonly token_id: number | null;
  readonly scopes: readonly Scope[] | null;
  readonly tenants: readonly string[] | null;
  /** The new secret for the cookie, if it rotates. */
  readonly newSecret: string | undefined;
}

/**
 * Runs for each request with a cookie, so that an ended session is invalid at once in every process. Of parallel
 * requests, one changes the row: the others no longer find its `secret_hash`.
 */
const FIND = `
WITH found AS (
  SELECT s.session_id, s.roles, coalesce(t.name, s.name) AS name, s.token_id, t.scopes, t.tenants, s.secret_hash,
    s.secret_hash = $1 AS is_newest,
    CASE WHEN s.secret_hash = $1 THEN s.secret_at < now() - ${ROTATE_AFTER}
      ELSE s.former_until IS NULL AND s.secret_at < now() - ${FORMER_VALID} END AS is_due,
    s.secret_hash = $1 AND s.former_hash IS NOT NULL AND s.former_until IS NULL AS is_confirming,
    s.last_used_at < now() - interval '1 minute' AS is_stale
  FROM sessions AS s LEFT JOIN api_tokens AS t USING (token_id)
  WHERE (s.secret_hash = $1 OR s.former_hash = $1 AND (s.former_until IS NULL OR s.former_until > now()))
    AND ${validSession("$3", "$4", "$5")}
), changed AS (
  UPDATE sessions AS s SET
    last_used_at = now(),
    secret_hash = CASE WHEN is_due THEN $2 ELSE s.secret_hash END,
    secret_at = CASE WHEN is_due THEN now() ELSE s.secret_at END,
    former_hash = CASE WHEN is_due AND is_newest THEN s.secret_hash ELSE s.former_hash END,
    former_until = CASE WHEN is_due THEN NULL WHEN is_confirming THEN now() + ${FORMER_VALID} ELSE s.former_until END
  FROM found
  WHERE s.session_id = found.session_id AND s.secret_hash = found.secret_hash AND (is_due OR is_confirming OR is_stale)
  RETURNING is_due
), used AS (
  UPDATE api_tokens SET last_used_at = date_trunc('hour', now())
  WHERE token_id = (SELECT token_id FROM found) AND (last_used_at IS NULL OR last_used_at < date_trunc('hour', now()))
)
SELECT session_id, roles, name, token_id, scopes, tenants, EXISTS (SELECT FROM changed WHERE is_due) AS is_rotated FROM found`;

/** Returns undefined if the secret is unknown, or its session is no longer valid. */
export async function findSession(
  postgres: Pool,
  secret: string,
  { idle_minutes, max_hours, issuer }: SessionRules,
  signal?: AbortSignal,
): Promise<ValidSession | undefined> {
  if (!SESSION_SECRET.test(secret)) return undefined;
  const next = newSecret();
  const params = [secretHash(secret), secretHash(next), idle_minutes, max_hours, issuer];
  const [found] = await readPostgres<Omit<ValidSession, "newSecret"> & { readonly is_rotated: boolean }>(
    postgres,
    { query: FIND, params },
    signal,
  );
  if (found === undefined) return undefined;
  const { is_rotated, ...session } = found;
  return { ...session, newSecret: is_rotated ? next : undefined };
}

/** Which sessions end: one, or all of an owner. */
export type EndedSessions =
  | { readonly session_id: number }
  | { readonly token_id: number }
  | { readonly issuer: string; readonly name: string };

/** Returns how many sessions ended. */
export async function endSessions(
  postgres: Pool,
  which: EndedSessions,
  actor: Actor,
  action: "signOut" | "endSession",
  stop?: Interruption,
): Promise<number> {
  const columns = Object.keys(which);
  return await withTransaction(
    postgres,
    async (on) => {
      const { rows } = await runStatement<{ session_id: number; name: string }>(on, {
        query: `DELETE FROM sessions AS s WHERE ${columns.map((column, at) => `${column} = $${at + 1}`).join(" AND ")}
          RETURNING session_id, coalesce(name, (SELECT t.name FROM api_tokens AS t WHERE t.token_id = s.token_id)) AS name`,
        params: Object.values(which),
      });
      for (const subject of rows) await addAuditEntry(on, actor, { action, subject: { ...subject } });
      return rows.length;
    },
    stop,
  );
}
