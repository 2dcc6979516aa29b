/** Loads data of a view from the API, with a cache. */
import { useEffect, useState } from "preact/hooks";
import { forgetUnderWay } from "./under-way.js";

export interface Data<T> {
  /** The last successful response. While `isStale`, it belongs to the previous request, or reloading it failed. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
  /** Sends the request again. */
  readonly reload: () => void;
}

type Load<Request, T> = (request: Request, signal: AbortSignal) => Promise<T>;

/** The latest responses by key, so that going back shows them at once while they are reloaded. */
const shownResponses = new Map<string, unknown>();
const MAX_CACHED = 50;

const listeners = new Set<() => void>();

/** Values that several requests need, with their expiry time. */
const timedCache = new Map<string, { readonly until: number; readonly value: unknown }>();

/** Returns the cached value, or loads it and caches it for `ms`. */
export async function cachedFor<T>(ms: number, key: string, load: () => Promise<T>): Promise<T> {
  const entry = timedCache.get(key);
  if (entry !== undefined && entry.until > Date.now()) return entry.value as T;
  const value = await load();
  for (const [old, { until }] of timedCache) if (until <= Date.now()) timedCache.delete(old);
  timedCache.set(key, { until: Date.now() + ms, value });
  return value;
}

/** Clears all caches, so that everything is loaded again before it is shown. */
export function clearCaches(): void {
  shownResponses.clear();
  timedCache.clear();
  forgetUnderWay();
}

/** Reloads all data in view, after a change. */
export function reloadAll(): void {
  clearCaches();
  for (const listener of listeners) listener();
}

/** Functions that load, by number: a minified name is not unique. */
const loads: unknown[] = [];

function keyOf(load: unknown, request: unknown): string {
  if (!loads.includes(load)) loads.push(load);
  return `${loads.indexOf(load)} ${JSON.stringify(request)}`;
}

/**
 * Loads data when the request changes, and keeps the old value until the new one has arrived. A request that is no
 * longer needed is aborted; the service then also cancels its queries.
 * @param load a function of a module: a new function would be a new request
 * @param request undefined if nothing is needed
 */
export function useLoaded<Request, T>(load: Load<Request, T>, request: Request | undefined): Data<T> {
  const key = request === undefined ? undefined : keyOf(load, request);
  const [state, setState] = useState<{ key?: string; valueKey?: string; value?: T; error?: unknown }>(() =>
    key !== undefined && shownResponses.has(key)
      ? { key, valueKey: key, value: shownResponses.get(key) as T }
      : {},
  );
  const [reloads, setReloads] = useState(0);
  useEffect(() => {
    const listener = () => setReloads((before) => before + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  useEffect(() => {
    if (key === undefined) return undefined;
    const abort = new AbortController();
    if (shownResponses.has(key)) setState({ key, valueKey: key, value: shownResponses.get(key) as T });
    load(request as Request, abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        shownResponses.delete(key);
        shownResponses.set(key, value);
        for (const oldest of shownResponses.keys()) {
          if (shownResponses.size <= MAX_CACHED) break;
          shownResponses.delete(oldest);
        }
        setState({ key, valueKey: key, value });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        // Drop a value of another key. It would be shown under the wrong days.
        setState((before) => (before.valueKey === key ? { ...before, key, error } : { key, error }));
      },
    );
    return () => abort.abort();
  }, [key, reloads]);
  const { value } = key === undefined ? {} : state;
  return {
    value,
    error: state.key === key ? state.error : undefined,
    isStale: value !== undefined && (state.key !== key || state.error !== undefined),
    reload: () => setReloads((before) => before + 1),
  };
}
