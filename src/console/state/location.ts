/**
 * The address is the state: what a view shows is in its path and query, so that a copied link shows the same, and back and forward
 * work. Views read it by `useLocation` and change it by `go`.
 */
import { useEffect, useState } from "preact/hooks";
import { columnOfFilter, isFilterColumn } from "./filters.js";
import type { Changes, Place } from "./place.js";

export type { Changes, Place } from "./place.js";

const listeners = new Set<() => void>();

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

function tell(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", tell);

export function useLocation(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const listener = () => setPlace(here());
    listeners.add(listener);
    // The address may have changed between the first drawing and now.
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return place;
}

/** Of the address, that open something beside the view, or turn the pages of a list below others: what the reader looks at stays where it is. */
const BESIDE = Object.fromEntries(
  ["why", "dimension", "history", "rows", "lacking_page"].map((name) => [name, undefined]),
);

/** `replace`: the step is none to go back to. */
export function go(href: string, { replace = false } = {}): void {
  const before = here();
  if (href === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  tell();
  if (!replace && changed(before, BESIDE) !== changed(here(), BESIDE)) scrollTo(0, 0);
}

/** Without filters and whatever belongs to a view: for links of views that show what is there whatever the filters are. */
export function datesAlone({ path, query }: Place): Place {
  const dates = [...query].filter(([name]) => name === "start_date" || name === "end_date");
  return { path, query: new URLSearchParams(dates) };
}

/** Pages of lists. `rows` is the page of a list that is open while the address has it. */
const pages = ["page", "lacking_page", "rows"] as const;

/**
 * The address of a path with the query changed: undefined takes a parameter out, a list gives it several times. With other days or filters
 * each list has other pages, and begins with the first.
 */
export function changed({ path, query }: Place, changes: Changes, to = path): string {
  const next = new URLSearchParams(query);
  if (Object.keys(changes).some(choosesRows))
    for (const name of pages) {
      if (name === "rows" && next.has(name)) next.set(name, "1");
      else next.delete(name);
    }
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const each of value === undefined ? [] : [value].flat()) next.append(name, each);
  }
  const text = next.toString();
  return text === "" ? to : `${to}?${text}`;
}

/** Whether a parameter says which rows there are. */
function choosesRows(name: string): boolean {
  return name === "start_date" || name === "end_date" || isFilterColumn(columnOfFilter(name));
}
