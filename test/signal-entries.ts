import { getEventListeners } from "node:events";

/**
 * Counts the listeners of a signal, and the signals that `AbortSignal.any` derived from it, which Node.js 20 never
 * releases.
 */
export function signalEntries(signal: AbortSignal): number {
  const made = Object.getOwnPropertySymbols(signal)
    .filter(({ description }) => description === "kDependantSignals")
    .map((symbol): ReadonlySet<unknown> => Reflect.get(signal, symbol));
  return made.reduce((sum, { size }) => sum + size, getEventListeners(signal, "abort").length);
}
