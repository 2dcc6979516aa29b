/** Pagination of a list: the number of pages, and links to the previous and the next page. */
import { useEffect } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import type { Data } from "../state/use-data.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";

const text = en.pages;

/** The page number in the address, from 1. Invalid numbers count as 1. */
export const shownPage = ({ query }: Place, parameter = "page") =>
  Math.max(1, Math.floor(Number(query.get(parameter))) || 1);

interface Paged {
  readonly items: readonly unknown[];
  readonly total: number;
  readonly pages: number;
}

/** Goes to the last page if the address names a later one, such as after the list became shorter. */
export function useLastPage(place: Place, { value, isStale }: Data<Paged>, parameter = "page"): void {
  const last =
    value !== undefined && !isStale && value.items.length === 0 && value.total > 0
      ? String(value.pages)
      : undefined;
  useEffect(() => {
    if (last !== undefined) go(changed(place, { [parameter]: last }), { replace: true });
  }, [last]);
}

interface PagesProps {
  readonly place: Place;
  readonly page: number;
  readonly pages: number;
  /** Number of rows on all pages, as text such as `3 rows`. */
  readonly countText: string;
  /** Parameter of the address that has the page number. */
  readonly parameter?: string;
}

export function PageLinks({ place, page, pages, countText, parameter = "page" }: PagesProps) {
  return (
    <p class="pages">
      {countText}
      {pages > 1 && (
        <>
          {" · "}
          {page > 1 && <Link href={changed(place, { [parameter]: String(page - 1) })}>{text.before}</Link>}{" "}
          {text.page(page, pages)}{" "}
          {page < pages && <Link href={changed(place, { [parameter]: String(page + 1) })}>{text.next}</Link>}
        </>
      )}
    </p>
  );
}
