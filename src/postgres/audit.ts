/** Entries of the audit log: who changed what, when and from where. Entries are never changed or removed. */
import type { Pool, PoolClient } from "pg";
import { runStatement } from "./statement.js";

/** The author of a change. */
export interface Actor {
  /** `anyone`: the API requires no credentials. `command`: the command line of this machine. */
  readonly kind: "anyone" | "token" | "oidc" | "proxy" | "command";
  /** Null if unknown. */
  readonly name: string | null;
  readonly tokenId?: number | undefined;
  /** Client address of the request. */
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface AuditEntry {
  /** Name of the API operation. */
  readonly action: string;
  /** Tenant whose data is changed. Undefined if the change concerns no tenant. */
  readonly tenantName?: string | undefined;
  /** What is changed: ids, keys, numbers. */
  readonly subject: Readonly<Record<string, unknown>>;
}

/**
 * Must run on the connection of the transaction that makes the change, so that there is no change without its entry.
 */
export async function addAuditEntry(
  on: Pool | PoolClient,
  { kind, name, tokenId, address, requestId }: Actor,
  { action, tenantName, subject }: AuditEntry,
): Promise<void> {
  await runStatement(on, {
    query: `INSERT INTO audit_entries (actor, actor_kind, token_id, address, request_id, tenant_name, action, subject)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    params: [name, kind, tokenId, address, requestId, tenantName, action, JSON.stringify(subject)],
  });
}
