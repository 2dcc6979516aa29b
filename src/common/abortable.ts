/**
 * Settles like the promise, or rejects with the signal's reason as soon as it aborts. Only an abort calls `cancel`. The
 * promise itself goes on after an abort.
 */
export async function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  cancel: () => void = () => undefined,
): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}
