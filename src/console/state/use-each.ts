import { useEffect, useState } from "preact/hooks";

export const REQUEST_FAILED = Symbol("failed");

/**
 * Loads something for each name. Each result appears when it arrives, so slow or failed requests do not delay others.
 */
export function useEach<T>(
  names: readonly string[],
  key: string,
  load: (name: string, signal: AbortSignal) => Promise<T>,
): ReadonlyMap<string, T | typeof REQUEST_FAILED> {
  const [results, setResults] = useState<ReadonlyMap<string, T | typeof REQUEST_FAILED>>(new Map());
  useEffect(() => {
    const abort = new AbortController();
    const record = (name: string, result: T | typeof REQUEST_FAILED) => {
      if (!abort.signal.aborted) setResults((before) => new Map(before).set(name, result));
    };
    setResults(new Map());
    for (const name of names)
      load(name, abort.signal).then(
        (result) => record(name, result),
        () => record(name, REQUEST_FAILED),
      );
    return () => abort.abort();
  }, [key]);
  return results;
}
