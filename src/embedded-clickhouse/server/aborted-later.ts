/** Returns a signal that aborts `ms` milliseconds after `signal`, with the same reason. */
export function abortedLater(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController();
  const abort = () => void setTimeout(() => later.abort(signal.reason), ms);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return later.signal;
}
