/**
 * A cache of pages that were read together with the page before them, for clients that read a list from beginning to
 * end. Each page is used once. Pages stay valid until published data changes (`state/published.ts`).
 */
import { LRUCache } from "lru-cache";

/** With a kilobyte per row, 20 MB. */
const MOST_ROWS = 20_000;

export interface PagePrefetch<Page> {
  set(key: string, page: Page): void;
  /** Returns the page and removes it. */
  take(key: string): Page | undefined;
}

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
