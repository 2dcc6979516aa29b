/** What a view has asked the API for. */
import { useEffect, useRef, useState } from "preact/hooks";

export interface Data<T> {
  /** The last good answer, which may be one to the question before, until there is one to this or it fails: then `isStale`. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
  /** Asks again. */
  readonly reload: () => void;
}

type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** Answers to the latest questions, so that going back shows them at once while they are asked again. */
const known = new Map<string, unknown>();
const MOST_KNOWN = 50;

const listeners = new Set<() => void>();

/** What several questions rest on, and when it is to be asked again. */
const kept = new Map<string, { readonly until: number; readonly value: unknown }>();

export async function keptFor<T>(ms: number, key: string, ask: () => Promise<T>): Promise<T> {
  const found = kept.get(key);
  if (found !== undefined && found.until > Date.now()) return found.value as T;
  const value = await ask();
  for (const [old, { until }] of kept) if (until <= Date.now()) kept.delete(old);
  kept.set(key, { until: Date.now() + ms, value });
  return value;
}

/** Nothing that was seen is shown again before it is asked for. */
export function forgetAll(): void {
  known.clear();
  kept.clear();
}

/** Everything in sight is asked for again: something was changed. */
export function reloadAll(): void {
  forgetAll();
  for (const listener of listeners) listener();
}

/**
 * Asks when `key` changes, and keeps the old answer until the new one is there. A question that nobody waits for any more is aborted, which the
 * service passes on to its stores.
 */
export function useData<T>(key: string, ask: Ask<T>): Data<T> {
  const [state, setState] = useState<{ key?: string; of?: string; value?: T; error?: unknown }>({});
  const [times, setTimes] = useState(0);
  const current = useRef(ask);
  current.current = ask;
  useEffect(() => {
    const listener = () => setTimes((before) => before + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    if (known.has(key)) setState({ key, of: key, value: known.get(key) as T });
    current.current(stop.signal).then(
      (value) => {
        if (stop.signal.aborted) return;
        known.delete(key);
        known.set(key, value);
        for (const oldest of known.keys()) {
          if (known.size <= MOST_KNOWN) break;
          known.delete(oldest);
        }
        setState({ key, of: key, value });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        // The answer to another question is none to this one: it would stand under the wrong days.
        setState((before) => (before.of === key ? { ...before, key, error } : { key, error }));
      },
    );
    return () => stop.abort();
  }, [key, times]);
  return {
    value: state.value,
    error: state.key === key ? state.error : undefined,
    isStale: state.value !== undefined && (state.key !== key || state.error !== undefined),
    reload: () => setTimes((before) => before + 1),
  };
}
