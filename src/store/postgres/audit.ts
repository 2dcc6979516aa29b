/** Entries of the audit: who changed what, when and from where. They are only ever added. */
import type { Pool, PoolClient } from "pg";
import { runStatement } from "./statement.js";

/** Who makes a change. */
export interface Actor {
  /** `anyone`: the API asks nobody who they are. `command`: the command line of this machine. */
  readonly kind: "anyone" | "token" | "oidc" | "proxy" | "command";
  /** Null where nobody says it. */
  readonly name: string | null;
  readonly tokenId?: number | undefined;
  /** Where the request came from. */
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface AuditEntry {
  /** What is done: the name of the operation of the API. */
  readonly action: string;
  /** Whose data is changed; undefined: nobody's. */
  readonly tenantName?: string | undefined;
  /** What is changed: ids, keys, numbers. */
  readonly subject: Readonly<Record<string, unknown>>;
}

/** On the connection of the transaction that makes the change: there is no change without its entry. */
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
