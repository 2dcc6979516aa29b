/**
 * A cache of pages that were read together with the page before them, for clients that read a list from beginning to
 * end. Each page is used once. Pages stay valid until published data changes (`state/published.ts`).
 */
import { createSizedCache, type SizedCache } from "../../store/sized-memory.js";

/** With a kilobyte per row, 20 MB. */
const MOST_ROWS = 20_000;

export type PagePrefetch<Page> = Pick<SizedCache<Page>, "take" | "keep">;

export function createPagePrefetch<Page extends { readonly items: readonly unknown[] }>(
  most = MOST_ROWS,
): PagePrefetch<Page> {
  return createSizedCache({ most, sizeOf: ({ items }) => items.length });
}
