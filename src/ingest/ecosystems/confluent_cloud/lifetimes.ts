/** Checks on which days an entity existed, and with which properties. */
import { addDays, midnightOf } from "../../../common/days.js";
import type { KnownResource, Lifetime } from "../../known.js";

/** `[start, end)`, in milliseconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function spanOfDay(day: string): Span {
  return { start: midnightOf(day).getTime(), end: midnightOf(addDays(day, 1)).getTime() };
}

/**
 * `start` is inclusive for deletions, because they are noticed late. `end` is exclusive for creations. An entity without
 * a creation time always existed.
 */
export function existedDuring({ created_at, deleted_at }: Lifetime, { start, end }: Span): boolean {
  return (created_at === null || created_at < end) && (deleted_at === null || deleted_at >= start);
}

/** Returns the resource as it was when a span ended. Before it was first seen, it has its first state. */
export function stateAtEnd(resource: KnownResource, { end }: Span): KnownResource {
  const then = resource.earlier?.find(({ until }) => until >= end);
  return then === undefined ? resource : { ...resource, owner_id: then.owner_id, metadata: then.metadata };
}
