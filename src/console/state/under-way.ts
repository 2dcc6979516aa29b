/** Requests under way. Readers that need the same one share it. */
import { createSingleFlight } from "../../common/single-flight.js";

let underWay = createSingleFlight<unknown>();

/**
 * Joins the request with this key, or sends it if none is under way. `signal` is the reader's own: a reader that no
 * longer needs the response leaves, and the last one that leaves aborts the request.
 */
export async function shared<T>(
  key: string,
  send: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return (await underWay.of(key, signal, send)) as T;
}

/** From now on, requests are sent again: the data has changed, or the caller has. */
export function forgetUnderWay(): void {
  underWay = createSingleFlight();
}
