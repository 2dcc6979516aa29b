/** Shown to who may do it. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import type { Schemas } from "../api/client.js";
import { Caller } from "../state/caller.js";

interface MayProps {
  readonly scope: Schemas["Me"]["scopes"][number];
  readonly children: ComponentChildren;
}

export function May({ scope, children }: MayProps) {
  return useContext(Caller)?.scopes.includes(scope) ? children : null;
}
