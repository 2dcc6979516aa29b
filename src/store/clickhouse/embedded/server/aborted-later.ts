/** Aborts so long after `signal` did, with its reason. */
export function abortedLater(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController();
  const abort = () => void setTimeout(() => later.abort(signal.reason), ms);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return later.signal;
}
