/** The pages of a list: how many there are, and links to the ones beside this one. */
import { useEffect } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import type { Data } from "../state/use-data.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";

const text = en.pages;

/** From 1; the first where the address says none that can be. */
export const pageOf = ({ query }: Place, parameter = "page") =>
  Math.max(1, Math.floor(Number(query.get(parameter))) || 1);

interface Paged {
  readonly items: readonly unknown[];
  readonly total: number;
  readonly pages: number;
}

/** Goes to the last page where the address names one behind it, such as one of a list that was longer. */
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
  /** How many rows there are on all pages, in words. */
  readonly counted: string;
  /** Of the address, that says the page. */
  readonly parameter?: string;
}

export function Pages({ place, page, pages, counted, parameter = "page" }: PagesProps) {
  return (
    <p class="pages">
      {counted}
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
