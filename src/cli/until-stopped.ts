import { once } from "node:events";

/** Resolves when the signal aborts: for commands that go on until they are stopped. Does not keep a process alive by itself. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
