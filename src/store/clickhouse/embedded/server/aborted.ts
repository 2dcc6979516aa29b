/** What `promise` gives, or a rejection with the signal's reason when that aborts first; the promise then goes on by itself. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    stopListening = () => signal.removeEventListener("abort", abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stopListening();
  }
}

/** Aborts so long after `signal` did, with its reason. */
export function abortedLater(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController();
  const abort = () => void setTimeout(() => later.abort(signal.reason), ms);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return later.signal;
}
