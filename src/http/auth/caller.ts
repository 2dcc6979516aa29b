/** Callers and their permissions. */
import { type Scope, scopes, withImpliedScopes } from "../../domain/scopes.js";
import type { Actor } from "../../postgres/audit.js";

/** Allows all of the scopes for each of the tenants. */
interface Grant {
  readonly scopes: ReadonlySet<Scope>;
  /** Undefined for every tenant. */
  readonly tenants: ReadonlySet<string> | undefined;
}

export interface Caller {
  readonly kind: Exclude<Actor["kind"], "command">;
  /** Null for a caller without credentials. */
  readonly name: string | null;
  readonly tokenId?: number;
  /** Set if the cookie of a session authenticated the request. */
  readonly sessionId?: number;
  readonly grants: readonly Grant[];
}

/** Every caller, if `api.auth` is `none`. */
export const anyone: Caller = {
  kind: "anyone",
  name: null,
  grants: [{ scopes: new Set(scopes), tenants: undefined }],
};

/** A caller without valid credentials, if `api.auth` requires some. */
export const unauthenticated: Caller = { kind: "anyone", name: null, grants: [] };

/** A user whom single sign-on has authenticated. */
export interface SignedOnUser {
  readonly name: string;
  readonly roles: readonly string[];
}

/** The limits of names in the audit and in `created_by`. */
export function hasUsableName({ name }: SignedOnUser): boolean {
  return name.length <= 100 && /^\P{C}+$/u.test(name);
}

/** Scopes of a token or a role, without the scopes that they include. */
export interface GrantedScopes {
  readonly scopes: readonly Scope[];
  /** Null for every tenant. */
  readonly tenants: readonly string[] | null;
}

export function callerOf(
  identity: Pick<Caller, "kind" | "tokenId" | "sessionId"> & { readonly name: string },
  granted: readonly GrantedScopes[],
): Caller {
  const grants = granted.map((grant) => ({
    scopes: withImpliedScopes(grant.scopes),
    tenants: grant.tenants === null ? undefined : new Set(grant.tenants),
  }));
  return { ...identity, grants };
}

/** `any`: valid credentials with any scope. */
type RequiredScope = Scope | "any";

const grantsWith = ({ grants }: Caller, required: RequiredScope) =>
  grants.filter((grant) => required === "any" || grant.scopes.has(required));

/** Whether the caller has the scope for at least one tenant. */
export function may(caller: Caller, required: RequiredScope): boolean {
  return required === "any" || grantsWith(caller, required).length > 0;
}

export function mayForEveryTenant(caller: Caller, required: RequiredScope): boolean {
  return grantsWith(caller, required).some(({ tenants }) => tenants === undefined);
}

export function mayForTenant(caller: Caller, required: RequiredScope, tenantName: string): boolean {
  return grantsWith(caller, required).some(({ tenants }) => tenants?.has(tenantName) ?? true);
}
