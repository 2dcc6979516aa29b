/**
 * The address is the state of the console: path and query determine what a view shows. So a copied link shows the same,
 * and back and forward work. Views read the address with `useLocation` and change it with `go`.
 */
import { useEffect, useState } from "preact/hooks";
import { columnOfFilter, isFilterColumn } from "./filters.js";
import type { Changes, Place } from "./place.js";

export type { Changes, Place } from "./place.js";

const listeners = new Set<() => void>();

function currentPlace(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

function notify(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", notify);

export function useLocation(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const listener = () => setPlace(currentPlace());
    listeners.add(listener);
    // The address may have changed since the first render.
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return place;
}

/** Parameters that open a drawer or turn pages of a list further down. Changing them does not scroll to the top. */
const withoutDrawers = Object.fromEntries(
  ["why", "dimension", "assign", "history", "rows", "lacking_page"].map((name) => [name, undefined]),
);

/** Changes the address. `replace` adds no entry to the browser's history. */
export function go(href: string, { replace = false } = {}): void {
  const before = currentPlace();
  if (href === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  notify();
  if (!replace && changed(before, withoutDrawers) !== changed(currentPlace(), withoutDrawers)) scrollTo(0, 0);
}

/** Parameters that concern every view. */
const kept: ReadonlySet<string> = new Set(["start_date", "end_date", "digits"]);

/** The address without filters and view parameters, for links from views that ignore filters. */
export function datesAlone({ path, query }: Place): Place {
  const dates = [...query].filter(([name]) => kept.has(name));
  return { path, query: new URLSearchParams(dates) };
}

/** Parameters with page numbers. The list of `rows` is open only while the address has the parameter. */
const pageParameters = ["page", "lacking_page", "rows"] as const;

/**
 * Returns the address with changed parameters: undefined removes a parameter, a list repeats it. Changes of days or
 * filters change the rows of all lists, so these go back to their first pages.
 */
export function changed({ path, query }: Place, changes: Changes, to = path): string {
  const next = new URLSearchParams(query);
  if (Object.keys(changes).some(choosesRows))
    for (const name of pageParameters) {
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

/** Whether a parameter selects rows. */
function choosesRows(name: string): boolean {
  return name === "start_date" || name === "end_date" || isFilterColumn(columnOfFilter(name));
}
