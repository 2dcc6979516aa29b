/** Who calls, and what they may do. */
import { type Scope, scopes, withImpliedScopes } from "../../config/scopes.js";
import type { Actor } from "../../store/postgres/audit.js";

/** What is allowed together: these scopes, for these tenants; undefined: for every tenant. */
interface Grant {
  readonly scopes: ReadonlySet<Scope>;
  readonly tenants: ReadonlySet<string> | undefined;
}

export interface Caller {
  readonly kind: Exclude<Actor["kind"], "command">;
  /** Null where nobody says who they are. */
  readonly name: string | null;
  readonly tokenId?: number;
  readonly grants: readonly Grant[];
}

/** Where nobody is asked who they are. */
export const anyone: Caller = {
  ...{ kind: "anyone", name: null },
  grants: [{ scopes: new Set(scopes), tenants: undefined }],
};

/** Without credentials, where there have to be some. */
export const stranger: Caller = { kind: "anyone", name: null, grants: [] };

/** Whoever single sign-on vouches for. */
export interface Named {
  readonly name: string;
  readonly roles: readonly string[];
}

export interface Given {
  readonly scopes: readonly Scope[];
  /** Null for all. */
  readonly tenants: readonly string[] | null;
}

export function callerOf(
  who: Pick<Caller, "kind" | "tokenId"> & { readonly name: string },
  given: readonly Given[],
): Caller {
  const grants = given.map((each) => ({
    scopes: withImpliedScopes(each.scopes),
    tenants: each.tenants === null ? undefined : new Set(each.tenants),
  }));
  return { ...who, grants };
}

/** `any`: whatever else is allowed. */
type Needed = Scope | "any";

const holding = ({ grants }: Caller, needed: Needed) =>
  grants.filter((grant) => needed === "any" || grant.scopes.has(needed));

/** For some tenant. */
export function may(caller: Caller, needed: Needed): boolean {
  return needed === "any" || holding(caller, needed).length > 0;
}

export function mayForEveryTenant(caller: Caller, needed: Needed): boolean {
  return holding(caller, needed).some(({ tenants }) => tenants === undefined);
}

export function mayForTenant(caller: Caller, needed: Needed, tenantName: string): boolean {
  return holding(caller, needed).some(({ tenants }) => tenants?.has(tenantName) ?? true);
}
