import { useEffect, useState } from "preact/hooks";

export const FAILED = Symbol("failed");

/** Answers to one question about several things, each as soon as it is there: one that is slow or fails holds no other up. */
export function useEach<T>(
  names: readonly string[],
  key: string,
  ask: (name: string, signal: AbortSignal) => Promise<T>,
): ReadonlyMap<string, T | typeof FAILED> {
  const [found, setFound] = useState<ReadonlyMap<string, T | typeof FAILED>>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    const note = (name: string, answer: T | typeof FAILED) => {
      if (!stop.signal.aborted) setFound((before) => new Map(before).set(name, answer));
    };
    setFound(new Map());
    for (const name of names)
      ask(name, stop.signal).then(
        (answer) => note(name, answer),
        () => note(name, FAILED),
      );
    return () => stop.abort();
  }, [key]);
  return found;
}
