/**
 * Pages that were read together with the one before them, for whoever reads a list from its beginning to its end. Each is asked for once, and holds for as
 * long as what is published stays the same (`state/published.ts`).
 */
import { createSizedCache, type SizedCache } from "../../store/sized-memory.js";

/** Of a kilobyte each: 20 MB. */
const MOST_ROWS = 20_000;

export type PagePrefetch<Page> = Pick<SizedCache<Page>, "take" | "keep">;

export function createPagePrefetch<Page extends { readonly items: readonly unknown[] }>(
  most = MOST_ROWS,
): PagePrefetch<Page> {
  return createSizedCache({ most, sizeOf: ({ items }) => items.length });
}
