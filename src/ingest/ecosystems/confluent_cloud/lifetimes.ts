/** Which days something existed on, and as what. */
import { addDays, midnightOf } from "../../../time/days.js";
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
 * What was deleted at the very start still counts, because a deletion is noticed after it happened; what was created at the
 * very end does not. What nobody knows the creation of has always been there.
 */
export function existedDuring({ created_at, deleted_at }: Lifetime, { start, end }: Span): boolean {
  return (created_at === null || created_at < end) && (deleted_at === null || deleted_at >= start);
}

/** The resource as it was when a span ended. Before it was first seen it was what it was then. */
export function asOfEnd(resource: KnownResource, { end }: Span): KnownResource {
  const then = resource.earlier?.find(({ until }) => until >= end);
  return then === undefined ? resource : { ...resource, owner_id: then.owner_id, metadata: then.metadata };
}
