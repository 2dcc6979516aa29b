/** Cursors of the lists that ClickHouse holds: from the request to a place in their order, and from the end of a page to the next cursor. */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { cursorFingerprint, cursorOf, encodeCursor } from "../../query/page/cursor.js";
import type { CountDays, PageRequest } from "../../query/page/days.js";
import {
  cursorColumns,
  cursorKeyOf,
  type OrderColumns,
  type Place,
  placeOf,
} from "../../query/page/keyset.js";
import { createKnownCounts } from "../../query/page/known-counts.js";
import { envelope } from "../schemas/page.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Of lists in ClickHouse: what its cursors are called and hold. */
    cursors?: { readonly kind: string; readonly columns: OrderColumns };
  }
  interface FastifyRequest {
    /** Of routes that declare `cursors`. */
    cursorPage: CursorPage;
  }
}

interface CursorPage {
  /** Where the client wants to read on; undefined without a cursor. */
  readonly place: Place | undefined;
  /** Under the request's filters. */
  readonly countDays: CountDays;
  nextCursor(next: Place | undefined): string | null;
}

interface ListQuery extends PageRequest {
  readonly cursor?: string | undefined;
}

/** Refuses a cursor before the answer has a name: hence before any handler, and all that wraps it. */
export const cursors = fp(
  async (app) => {
    const known = createKnownCounts();
    app.decorateRequest("cursorPage");
    app.addHook("preHandler", async (request) => {
      const { cursors: of } = request.routeOptions.config;
      if (of === undefined) return;
      // The schema has validated it.
      const { page, page_size: _, cursor, ...filters } = request.query as ListQuery;
      // As given, so that a cursor outlives the midnight that moves a window.
      const fingerprint = cursorFingerprint({ ...filters, tenant: request.tenant.tenant_name });
      const key = cursorOf({ cursor, page }, of.kind, fingerprint, cursorColumns(of.columns));
      request.cursorPage = {
        place: key && placeOf(key),
        countDays: (read) => known.of(countsKey(of.kind, fingerprint, request), read),
        nextCursor: (next) =>
          next === undefined ? null : encodeCursor(of.kind, fingerprint, cursorKeyOf(next)),
      };
    });
  },
  // What is wrong with dates is said first.
  { name: "cursors", dependencies: ["date-window"] },
);

/** Undefined while what is published may be changing, and where nothing is. */
function countsKey(
  kind: string,
  fingerprint: string,
  { publishedState, window }: Pick<FastifyRequest, "publishedState" | "window">,
): string | undefined {
  if (publishedState === undefined || publishedState.days === 0) return undefined;
  return JSON.stringify([kind, fingerprint, window.from, window.to, publishedState.name]);
}

/** What the read of such a list is asked for. */
export function listInput<Query extends ListQuery>({
  query,
  window,
  cursorPage: { place, countDays },
}: Pick<FastifyRequest, "window" | "cursorPage"> & { readonly query: Query }) {
  const { page, page_size, cursor: _, ...filters } = query;
  return { page, page_size, place, countDays, window, filters };
}

/** The answer with the page that the read found. */
export function listEnvelope<Item>(
  { query, cursorPage }: Pick<FastifyRequest, "cursorPage"> & { readonly query: PageRequest },
  { next, ...found }: { items: Item[]; total: number; next: Place | undefined },
) {
  return envelope({ ...found, next_cursor: cursorPage.nextCursor(next) }, query);
}
