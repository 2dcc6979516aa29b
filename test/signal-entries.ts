import { getEventListeners } from "node:events";

/** What a signal holds of those who wait for it: listeners, and the signals that `AbortSignal.any` made of it, which Node.js 20 never lets go of. */
export function signalEntries(signal: AbortSignal): number {
  const made = Object.getOwnPropertySymbols(signal)
    .filter(({ description }) => description === "kDependantSignals")
    .map((symbol): ReadonlySet<unknown> => Reflect.get(signal, symbol));
  return made.reduce((sum, { size }) => sum + size, getEventListeners(signal, "abort").length);
}
