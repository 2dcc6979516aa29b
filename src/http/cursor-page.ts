/** Cursors of the lists that ClickHouse holds: from the request to a place in their order, and from the end of a page to the next cursor. */
import type { FastifyRequest } from "fastify";
import { cursorFingerprint, cursorOf, encodeCursor } from "../query/cursor.js";
import { cursorColumns, cursorKeyOf, type OrderColumns, type Place, placeOf } from "../query/keyset.js";

export interface CursorPage {
  /** Where the client wants to read on; undefined without a cursor. */
  readonly place: Place | undefined;
  nextCursor(next: Place | undefined): string | null;
}

/** `filters` is what, with the tenant, a cursor belongs to: as given, so that it outlives the midnight that moves a window. */
export function cursorPage(
  { tenant }: Pick<FastifyRequest, "tenant">,
  { kind, columns }: { kind: string; columns: OrderColumns },
  query: { cursor?: string | undefined; page: number },
  filters: Readonly<Record<string, unknown>>,
): CursorPage {
  const fingerprint = cursorFingerprint({ ...filters, tenant: tenant.tenant_name });
  const key = cursorOf(query, kind, fingerprint, cursorColumns(columns));
  return {
    place: key && placeOf(key),
    nextCursor: (next) => (next === undefined ? null : encodeCursor(kind, fingerprint, cursorKeyOf(next))),
  };
}
