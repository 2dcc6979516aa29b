/** Renders its children only if the caller has the scope. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import type { Schemas } from "../api/client.js";
import { SignedInCaller } from "../state/caller.js";

interface RequireScopeProps {
  readonly scope: Schemas["Me"]["scopes"][number];
  readonly children: ComponentChildren;
}

export function RequireScope({ scope, children }: RequireScopeProps) {
  return useContext(SignedInCaller)?.scopes.includes(scope) ? children : null;
}
