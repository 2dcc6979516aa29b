/** Cursors of the lists that ClickHouse holds: from the request to a place in their order, and from the end of a page to the next cursor. */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { createCountCache } from "../../query/page/count-cache.js";
import { cursorFingerprint, cursorOf, encodeCursor } from "../../query/page/cursor.js";
import type { CountDays, PageRequest } from "../../query/page/days.js";
import {
  cursorColumns,
  cursorKeyOf,
  type OrderColumns,
  type PagePosition,
  positionOf,
} from "../../query/page/keyset.js";
import type { Pages } from "../../query/page/keyset-page.js";
import { createPagePrefetch } from "../../query/page/page-prefetch.js";
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
  readonly position: PagePosition | undefined;
  /** Under the request's filters. */
  readonly countDays: CountDays;
  nextCursor(next: PagePosition | undefined): string | null;
  /** Names the list and what is published of its days; undefined while that may be changing, and where nothing is. */
  listKey(): string | undefined;
}

interface ListQuery extends PageRequest {
  readonly cursor?: string | undefined;
}

/** Refuses a cursor before the answer has a name: hence before any handler, and all that wraps it. */
export const cursors = fp(
  async (app) => {
    const known = createCountCache();
    app.decorateRequest("cursorPage");
    app.addHook("preHandler", async (request) => {
      const { cursors: of } = request.routeOptions.config;
      if (of === undefined) return;
      // The schema has validated it.
      const { page, page_size: _, cursor, ...filters } = request.query as ListQuery;
      // As given, so that a cursor outlives the midnight that moves a window.
      const fingerprint = cursorFingerprint({ ...filters, tenant: request.tenant.tenant_name });
      const key = cursorOf({ cursor, page }, of.kind, fingerprint, cursorColumns(of.columns));
      // What is published is read after this.
      const listKey = () => keyOfList(of.kind, fingerprint, request);
      request.cursorPage = {
        listKey,
        position: key && positionOf(key),
        countDays: (read) => known.of(listKey(), read),
        nextCursor: (next) =>
          next === undefined ? null : encodeCursor(of.kind, fingerprint, cursorKeyOf(next)),
      };
    });
  },
  // What is wrong with dates is said first.
  { name: "cursors", dependencies: ["date-window"] },
);

function keyOfList(
  kind: string,
  fingerprint: string,
  { publishedState, window }: Pick<FastifyRequest, "publishedState" | "window">,
): string | undefined {
  if (publishedState === undefined || publishedState.days === 0) return undefined;
  return JSON.stringify([kind, fingerprint, window.from, window.to, publishedState.name]);
}

type ListRequest<Query> = Pick<FastifyRequest, "window" | "cursorPage"> & { readonly query: Query };

/** So many rows are read for whoever follows cursors; what lies behind their page is kept for their next requests. */
const ROWS_AHEAD = 800;

/**
 * Answers the requests of a list. Who comes with a cursor reads on: the pages behind theirs are read in the same statements, which take most of their time
 * whatever the number of rows.
 */
export function createListReader<Item>() {
  const ahead = createPagePrefetch<ReturnType<typeof envelope<Item>>>();
  return async <Query extends ListQuery>(
    { query, window, cursorPage }: ListRequest<Query>,
    read: (input: ReturnType<typeof inputOf<Query>>) => Promise<Pages<Item>>,
  ) => {
    const { page_size, cursor } = query;
    const { nextCursor } = cursorPage;
    const listKey = cursorPage.listKey();
    const keyOf = (behind: string) => JSON.stringify([listKey, page_size, behind]);
    const isReadingOn = cursor !== undefined && listKey !== undefined;
    const known = isReadingOn ? ahead.take(keyOf(cursor)) : undefined;
    if (known !== undefined) return known;
    const more = isReadingOn ? Math.max(Math.floor(ROWS_AHEAD / page_size) - 1, 0) : 0;
    const { items, total, next } = await read(inputOf({ query, window, cursorPage }, more));
    const pageAt = (index: number) =>
      envelope(
        {
          items: items.slice(index * page_size, (index + 1) * page_size),
          total,
          next_cursor: nextCursor(next[index]),
        },
        query,
      );
    for (const [index, end] of next.slice(0, -1).entries()) {
      const behind = nextCursor(end);
      if (behind !== null) ahead.keep(keyOf(behind), pageAt(index + 1));
    }
    return pageAt(0);
  };
}

/** What the read is asked for. */
function inputOf<Query extends ListQuery>(
  { query, window, cursorPage: { position, countDays } }: ListRequest<Query>,
  ahead: number,
) {
  const { page, page_size, cursor: _, ...filters } = query;
  return { page, page_size, ahead, position, countDays, window, filters };
}
