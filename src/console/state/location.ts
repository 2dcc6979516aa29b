/**
 * The address is the state of the console: path and query determine what a view shows. So a copied link shows the same,
 * and back and forward work. Views read the address with `useLocation` and change it with `go`.
 */
import { useEffect, useState } from "preact/hooks";
import { resetBy, withoutChoices, withoutDrawers } from "./parameters.js";
import type { Changes, Place } from "./place.js";

export { datesAlone, withoutChoices } from "./parameters.js";
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

/**
 * Changes the address. `replace` adds no entry to the browser's history. Returns whether the page then shows something
 * else, and not only a drawer or another part of a list.
 */
export function go(href: string, { replace = false } = {}): boolean {
  const before = currentPlace();
  if (href === location.pathname + location.search) return false;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  notify();
  const isElsewhere = addressOf(withoutDrawers(before)) !== addressOf(withoutDrawers(currentPlace()));
  if (!replace && isElsewhere) scrollTo(0, 0);
  return isElsewhere;
}

/**
 * Returns the address with changed parameters: undefined removes a parameter, a list repeats it. Parameters that lose
 * their meaning are reset. A link to another view keeps days and filters.
 */
export function changed(place: Place, changes: Changes, to = place.path): string {
  const query = new URLSearchParams((to === place.path ? place : withoutChoices(place)).query);
  for (const [name, first] of resetBy(Object.keys(changes))) {
    if (first !== undefined && query.has(name)) query.set(name, first);
    else query.delete(name);
  }
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const each of value === undefined ? [] : [value].flat()) query.append(name, each);
  }
  return addressOf({ path: to, query });
}

function addressOf({ path, query }: Place): string {
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}
