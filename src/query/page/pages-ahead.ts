/**
 * Pages that were read together with the one before them, for whoever reads a list from its beginning to its end. Each is asked for once, and holds for as
 * long as what is published stays the same (`state/published.ts`).
 */
export interface PagesAhead<Page> {
  take(key: string): Page | undefined;
  keep(key: string, page: Page): void;
}

/** Of a kilobyte each: 20 MB. */
const MOST_ROWS = 20_000;

/** Those that were kept first go first. */
export function createPagesAhead<Page extends { readonly items: readonly unknown[] }>(
  most = MOST_ROWS,
): PagesAhead<Page> {
  const pages = new Map<string, Page>();
  let rows = 0;
  const take = (key: string) => {
    const page = pages.get(key);
    rows -= page?.items.length ?? 0;
    pages.delete(key);
    return page;
  };
  return {
    take,
    keep(key, page) {
      take(key);
      pages.set(key, page);
      rows += page.items.length;
      for (const [oldest] of pages) {
        if (rows <= most) return;
        take(oldest);
      }
    },
  };
}
