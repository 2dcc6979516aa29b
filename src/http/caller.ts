/** Who calls, and what they may do. */
import { heldScopes, type Scope, scopes } from "../config/scopes.js";
import type { Actor } from "../store/postgres/audit.js";

export interface Caller {
  readonly kind: Exclude<Actor["kind"], "command">;
  /** Null where nobody says who they are. */
  readonly name: string | null;
  readonly tokenId?: number;
  readonly scopes: ReadonlySet<Scope>;
  /** Undefined: every tenant. */
  readonly tenants: ReadonlySet<string> | undefined;
}

/** Where nobody is asked who they are. */
export const anyone: Caller = { kind: "anyone", name: null, scopes: new Set(scopes), tenants: undefined };

/** Without credentials, where there have to be some. */
export const stranger: Caller = { kind: "anyone", name: null, scopes: new Set(), tenants: new Set() };

/** `tenants`: null for all. */
export function callerOf(
  who: Pick<Caller, "kind" | "tokenId"> & { readonly name: string },
  given: { readonly scopes: readonly Scope[]; readonly tenants: readonly string[] | null },
): Caller {
  const tenants = given.tenants === null ? undefined : new Set(given.tenants);
  return { ...who, scopes: heldScopes(given.scopes), tenants };
}

export function maySee({ tenants }: Pick<Caller, "tenants">, tenantName: string): boolean {
  return tenants?.has(tenantName) ?? true;
}
