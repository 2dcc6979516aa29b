/**
 * What a caller of the API may be allowed to do. `read`: see costs and everything else that is shown. `tags`: change tags. `run`: start
 * runs, accept deliveries, upload usage. `admin`: tokens and the audit.
 */
export const scopes = ["read", "tags", "run", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Who tags has to see what is tagged; who starts runs or uploads usage need not see any cost. */
const alsoHeld: Readonly<Record<Scope, readonly Scope[]>> = {
  read: [],
  tags: ["read"],
  run: [],
  admin: ["read", "tags", "run"],
};

/** Those of the list, and those that they hold. */
export function heldScopes(given: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(given.flatMap((scope) => [scope, ...alsoHeld[scope]]));
}
