/**
 * Where the time of this process goes while it talks HTTP to others: how long it had nothing to do but wait for an answer, and
 * of whom. Node tells of every request through its diagnostics channels, so nothing of the service has to be changed for it.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Milliseconds; they add up to the time that was watched. */
export interface HttpWaiting {
  /** Nothing to do, and requests to upstreams alone under way. */
  readonly upstream: number;
  /** Nothing to do, and requests to the store under way, with or without others. */
  readonly store: number;
  /** Nothing to do, and no request under way: pauses between requests, and Postgres. */
  readonly idle: number;
  /** At work. */
  readonly busy: number;
}

export interface HttpWatch {
  taken(): HttpWaiting;
  stop(): void;
}

/** `upstreams`: hosts with their ports. Requests to any other host are those to the store. */
export function watchHttp(upstreams: ReadonlySet<string>): HttpWatch {
  const underWay = { upstream: 0, store: 0 };
  const spent = { upstream: 0, store: 0, idle: 0, busy: 0 };
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  const book = () => {
    const now = performance.eventLoopUtilization();
    const idle = now.idle - last.idle;
    spent.busy += now.active - last.active;
    spent[underWay.store > 0 ? "store" : underWay.upstream > 0 ? "upstream" : "idle"] += idle;
    last = now;
  };
  const started = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest };
    const whom = upstreams.has(String(request.getHeader("host"))) ? "upstream" : "store";
    book();
    underWay[whom] += 1;
    request.once("close", () => {
      book();
      underWay[whom] -= 1;
    });
  };
  subscribe("http.client.request.start", started);
  return {
    taken() {
      book();
      return { ...spent };
    },
    stop: () => void unsubscribe("http.client.request.start", started),
  };
}
