/**
 * Pagination of lists in ClickHouse: decodes the cursor of a request into a position, encodes the end of a page as the
 * next cursor, and reads pages ahead.
 *
 * Two caches make this fast: of row counts per day, and of pages that were read ahead. Their keys contain the published
 * state, so entries are never invalidated.
 */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { cursorFingerprint, cursorOf, encodeCursor } from "../../query/page/cursor.js";
import {
  type CountDays,
  cursorColumns,
  cursorKeyOf,
  type DayCount,
  type OrderColumns,
  type PagePosition,
  type PageRequest,
  positionOf,
} from "../../query/page/position.js";
import type { Pages } from "../../query/page/read-pages.js";
import { envelope } from "../schemas/page.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** For lists in ClickHouse: the kind of their cursors, and the columns in them. */
    cursors?: { readonly kind: string; readonly columns: OrderColumns };
  }
  interface FastifyRequest {
    /** Set if the route declares `cursors`. */
    cursorPage: CursorPage;
  }
}

interface CursorPage {
  /** Position after which the page begins; undefined without a cursor. */
  readonly position: PagePosition | undefined;
  /** Counts rows by the request's filters. */
  readonly countDays: CountDays;
  nextCursor(next: PagePosition | undefined): string | null;
  /**
   * Identifies the list and the published state of its days. Undefined while days are being published, and if no day is
   * published.
   */
  listKey(): string | undefined;
}

interface ListQuery extends PageRequest {
  readonly cursor?: string | undefined;
}

/** Refuses an invalid cursor before the handler and its wrappers, and so before the ETag is compared. */
export const pagination = fp(
  async (app) => {
    const counts = createCountCache();
    app.decorateRequest("cursorPage");
    app.addHook("preHandler", async (request) => {
      const { cursors: declared } = request.routeOptions.config;
      if (declared === undefined) return;
      const { kind, columns } = declared;
      // The schema has validated it.
      const { page, page_size: _, cursor, ...filters } = request.query as ListQuery;
      // Dates that the request leaves out are left out here as well, so that a cursor stays valid when midnight moves
      // the window.
      const fingerprint = cursorFingerprint({ ...filters, tenant: request.tenant.tenant_name });
      const key = cursorOf({ cursor, page }, kind, fingerprint, cursorColumns(columns));
      // A function, because the published state is read after this hook.
      const listKey = () => keyOfList(kind, fingerprint, request);
      request.cursorPage = {
        listKey,
        position: key && positionOf(key),
        countDays: (read) => counts.of(listKey(), read),
        nextCursor: (next) =>
          next === undefined ? null : encodeCursor(kind, fingerprint, cursorKeyOf(next)),
      };
    });
  },
  // Runs after the dates are validated, so that their problems are reported first.
  { name: "pagination", dependencies: ["date-window"] },
);

function keyOfList(
  kind: string,
  fingerprint: string,
  { publishedState, window }: Pick<FastifyRequest, "publishedState" | "window">,
): string | undefined {
  if (publishedState === undefined || publishedState.days === 0) return undefined;
  return JSON.stringify([kind, fingerprint, window.from, window.to, publishedState.fingerprint]);
}

type ListRequest<Query> = Pick<FastifyRequest, "window" | "cursorPage"> & { readonly query: Query };

/** How many rows are read for a request with a cursor. The rows after its page are cached for the next requests. */
const ROWS_AHEAD = 800;

/**
 * Reads the pages of a list. For a request with a cursor, the following pages are read by the same statements: most of
 * the time of a statement does not depend on the number of rows.
 */
export function createListReader<Item>() {
  const prefetch = createPagePrefetch<ReturnType<typeof envelope<Item>>>();
  return async <Query extends ListQuery>(
    { query, window, cursorPage }: ListRequest<Query>,
    read: (input: ReturnType<typeof inputOf<Query>>) => Promise<Pages<Item>>,
  ) => {
    const { page_size, cursor } = query;
    const { nextCursor } = cursorPage;
    const listKey = cursorPage.listKey();
    const keyOf = (pageCursor: string) => JSON.stringify([listKey, page_size, pageCursor]);
    const followsCursor = cursor !== undefined && listKey !== undefined;
    const prefetched = followsCursor ? prefetch.take(keyOf(cursor)) : undefined;
    if (prefetched !== undefined) return prefetched;
    const pagesAhead = followsCursor ? Math.max(Math.floor(ROWS_AHEAD / page_size) - 1, 0) : 0;
    const { items, total, next } = await read(inputOf({ query, window, cursorPage }, pagesAhead));
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
      const nextPageCursor = nextCursor(end);
      if (nextPageCursor !== null) prefetch.set(keyOf(nextPageCursor), pageAt(index + 1));
    }
    return pageAt(0);
  };
}

/** Builds the input of the read. */
function inputOf<Query extends ListQuery>(
  { query, window, cursorPage: { position, countDays } }: ListRequest<Query>,
  ahead: number,
) {
  const { page, page_size, cursor: _, ...filters } = query;
  return { page, page_size, ahead, position, countDays, window, filters };
}

interface CountCache {
  /**
   * `key` identifies the list, its filters, its window and the published state. Undefined if the state is uncertain:
   * nothing is cached.
   */
  of(key: string | undefined, read: Parameters<CountDays>[0]): ReturnType<CountDays>;
}

/** A day takes 50 bytes, so with 400 days each the cache takes 4 MB. */
const MAX_ENTRIES = 200;

/** All pages of a list have the same counts, and with some filters counting takes longer than reading the page. */
function createCountCache(maxEntries = MAX_ENTRIES): CountCache {
  const cached = new LRUCache<string, readonly DayCount[]>({ max: maxEntries });
  return {
    async of(key, read) {
      if (key === undefined) return await read();
      const known = cached.get(key);
      if (known !== undefined) return known;
      const counts = await read();
      cached.set(key, counts);
      return counts;
    },
  };
}

/** With a kilobyte per row, 20 MB. */
const MOST_ROWS = 20_000;

interface PagePrefetch<Page> {
  set(key: string, page: Page): void;
  /** Returns the page and removes it. */
  take(key: string): Page | undefined;
}

/**
 * Creates a cache of pages that were read together with the page before them, for clients that read a list from
 * beginning to end. Each page is used once.
 */
export function createPagePrefetch<Page extends { readonly items: readonly unknown[] }>(
  maxRows = MOST_ROWS,
): PagePrefetch<Page> {
  // An entry of an LRUCache cannot have size 0.
  const pages = new LRUCache<string, Page>({
    maxSize: maxRows,
    sizeCalculation: ({ items }) => Math.max(items.length, 1),
  });
  return {
    set(key, page) {
      pages.set(key, page);
    },
    take(key) {
      const page = pages.get(key);
      pages.delete(key);
      return page;
    },
  };
}
