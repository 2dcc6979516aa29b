/**
 * Single flight: equal requests that arrive together share one result. Work ends early only if nobody waits for it any
 * more, so a client that disconnects, or whose time is up, takes nothing from the others.
 */
import { abortable } from "./abortable.js";

export interface SingleFlight<Result> {
  /**
   * Returns the result of `work`, or of work with the same key that has begun and not ended. `work` gets a signal that
   * aborts when all who wait have left. Throws the reason of `signal` as soon as it aborts, and the error of the work.
   * An error reaches those who wait, and the next request begins anew.
   */
  of(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

interface Flight<Result> {
  readonly result: Promise<Result>;
  readonly nobodyWaits: AbortController;
  waiting: number;
}

export function createSingleFlight<Result>(): SingleFlight<Result> {
  const flights = new Map<string, Flight<Result>>();
  const close = (key: string, flight: Flight<Result>) => {
    if (flights.get(key) === flight) flights.delete(key);
  };

  function begin(key: string, work: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const nobodyWaits = new AbortController();
    const flight = { result: work(nobodyWaits.signal), nobodyWaits, waiting: 0 };
    flights.set(key, flight);
    const end = () => close(key, flight);
    flight.result.then(end, end);
    return flight;
  }

  return {
    async of(key, signal, work) {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? begin(key, work);
      flight.waiting += 1;
      try {
        return await abortable(flight.result, signal);
      } finally {
        flight.waiting -= 1;
        if (signal.aborted) {
          // Work that took too long for one request may be stuck. No further request joins it.
          close(key, flight);
          if (flight.waiting === 0) flight.nobodyWaits.abort(signal.reason);
        }
      }
    },
  };
}
