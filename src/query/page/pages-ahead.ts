/**
 * Pages that were read together with the one before them, for whoever reads a list from its beginning to its end. Each is asked for once, and holds for as
 * long as what is published stays the same (`state/published.ts`).
 */
import { setNewest } from "../../store/set-newest.js";

export interface PagesAhead<Page> {
  take(key: string): Page | undefined;
  keep(key: string, page: Page): void;
}

/** Pages of up to 200 rows of a kilobyte: 10 MB of those of 100. */
const MOST_KEPT = 100;

export function createPagesAhead<Page>(most = MOST_KEPT): PagesAhead<Page> {
  const pages = new Map<string, Page>();
  return {
    take(key) {
      const page = pages.get(key);
      pages.delete(key);
      return page;
    },
    keep(key, page) {
      setNewest(pages, key, page, most);
    },
  };
}
