/** The pages of a list: how many there are, and links to the ones beside this one. */
import { changed, type Place } from "../state/location.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";

const text = en.pages;

/** From 1; the first where the address says none that can be. */
export const pageOf = ({ query }: Place, parameter = "page") =>
  Math.max(1, Math.floor(Number(query.get(parameter))) || 1);

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
