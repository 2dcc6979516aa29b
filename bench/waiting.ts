/**
 * Measures how long this process is idle because it waits for responses, and from whom. Node and undici publish every
 * HTTP request through diagnostics channels, so the service needs no change.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { Pool } from "pg";

/** In milliseconds. The first four add up to the measured time. */
export interface WaitingRequests {
  /** Idle, with requests to upstreams only. */
  readonly upstream: number;
  /** Idle, with requests to the engine or to Postgres, and possibly others. */
  readonly store: number;
  /** Idle without any request: pauses between requests, because of the upstream's limits. */
  readonly paced: number;
  /** Busy. */
  readonly busy: number;
  /** Time with requests to upstreams in progress, busy or idle. Not part of the sum. */
  readonly answering: number;
}

export interface WaitingWatch {
  totals(): WaitingRequests;
  stop(): void;
}

/** A request ends with its last byte, or with an error. */
const upstreamEnds = ["undici:request:trailers", "undici:request:error"];

/** Requests of `node:http` go to the engine. */
export function watchWaiting(postgres: Pool): WaitingWatch {
  const underWay = { upstream: 0, store: 0 };
  const spent = { upstream: 0, store: 0, paced: 0, busy: 0, answering: 0 };
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  let lastAt = performance.now();
  const book = () => {
    const now = performance.eventLoopUtilization();
    const at = performance.now();
    if (underWay.upstream > 0) spent.answering += at - lastAt;
    lastAt = at;
    const idle = now.idle - last.idle;
    spent.busy += now.active - last.active;
    spent[underWay.store > 0 ? "store" : underWay.upstream > 0 ? "upstream" : "paced"] += idle;
    last = now;
  };
  const change = (whom: keyof typeof underWay, by: 1 | -1) => {
    book();
    underWay[whom] += by;
  };
  const toStore = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest };
    change("store", 1);
    request.once("close", () => change("store", -1));
  };
  const toUpstream = () => change("upstream", 1);
  const fromUpstream = () => change("upstream", -1);
  const acquired = () => change("store", 1);
  const released = () => change("store", -1);
  subscribe("http.client.request.start", toStore);
  subscribe("undici:request:create", toUpstream);
  for (const end of upstreamEnds) subscribe(end, fromUpstream);
  postgres.on("acquire", acquired);
  postgres.on("release", released);
  return {
    totals() {
      book();
      return { ...spent };
    },
    stop() {
      unsubscribe("http.client.request.start", toStore);
      unsubscribe("undici:request:create", toUpstream);
      for (const end of upstreamEnds) unsubscribe(end, fromUpstream);
      postgres.off("acquire", acquired);
      postgres.off("release", released);
    },
  };
}
