import { once } from "node:events";

/**
 * Resolves when the signal aborts, for commands that run until they are stopped. Does not keep the process alive by
 * itself.
 */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
