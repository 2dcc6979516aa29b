/**
 * Where the time of this process goes while it talks to others: how long it had nothing to do but wait for an answer, and of
 * whom. Node and undici tell of every HTTP request through diagnostics channels, so nothing of the service has to be changed for it.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { Pool } from "pg";

/** Milliseconds; the first four add up to the time that was watched. */
export interface Waiting {
  /** Nothing to do, and requests to upstreams alone under way. */
  readonly upstream: number;
  /** Nothing to do, and requests to the engine or to Postgres under way, with or without others. */
  readonly store: number;
  /** Nothing to do, and no request under way: pauses between requests, which the upstream's limits ask for. */
  readonly paced: number;
  /** At work. */
  readonly busy: number;
  /** Not one of those that add up: requests to upstreams under way, whatever else was done meanwhile. */
  readonly answering: number;
}

export interface WaitingWatch {
  taken(): Waiting;
  stop(): void;
}

/** A request ends with its last byte, or with an error. */
const upstreamEnds = ["undici:request:trailers", "undici:request:error"];

/** Requests of `node:http` are those to the engine. */
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
    taken() {
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
