/**
 * Scopes of API callers. `read`: see costs and everything else that is shown. `tags`: change tags. `assign`: assign
 * resources to identities, which changes who pays. `run`: start runs, accept deliveries, upload usage. `admin`: tokens
 * and the audit.
 */
export const scopes = ["read", "tags", "assign", "run", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Tagging and assigning require reading. Starting runs and uploading usage do not. */
const implied: Readonly<Record<Scope, readonly Scope[]>> = {
  read: [],
  tags: ["read"],
  assign: ["read"],
  run: [],
  admin: ["read", "tags", "assign", "run"],
};

/** Returns the given scopes and the scopes that they include. */
export function withImpliedScopes(given: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(given.flatMap((scope) => [scope, ...implied[scope]]));
}
