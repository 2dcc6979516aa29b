/**
 * Admission: heavy reads wait for a slot before they query the store, and keep it until their response is complete.
 *
 * This limits how many of them run at once in this process, so that they do not slow down all other requests.
 * ClickHouse shares its cores among all running queries, and four aggregations side by side take as long as four in
 * turn. Further heavy reads wait in a queue, for a limited time. One tenant cannot take all running slots, nor the
 * whole queue. The next read that leaves the queue is of the tenant with the fewest running reads.
 */
import { finished, Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/config.js";
import { type HttpContext, openTenantStore } from "../context.js";
import { TooBusyError } from "../errors.js";
import { wrapHandler } from "./time-limit.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route, or this request of it, may read most of the tenant's data. */
    heavy: boolean | ((request: FastifyRequest) => boolean);
  }
  interface FastifyRequest {
    /** Whether another read waits for the slot of this request. */
    isSlotWanted(): boolean;
  }
}

const SECOND = 1000;

export const admission = fp<Pick<HttpContext, "config" | "metrics" | "stores">>(
  async (app, context) => {
    const { enter, isWanted } = createAdmission(limitsOf(context.config), ({ running, waiting }) => {
      context.metrics.heavyReads.set({ state: "running" }, running);
      context.metrics.heavyReads.set({ state: "waiting" }, waiting);
    });
    const admitted = new WeakSet<FastifyRequest>();
    app.decorateRequest("isSlotWanted", function () {
      return admitted.has(this) && isWanted(this.tenant.tenant_name);
    });
    app.addHook("onRoute", (route) => {
      const { heavy = false } = route.config ?? {};
      if (heavy === false) return;
      wrapHandler(route, async (request, _reply, handle) => {
        if (typeof heavy === "function" && !heavy(request)) return await handle();
        // Open the store first, so that no request waits in the queue for a store that is unreachable.
        await openTenantStore(context, request.tenant);
        const release = await enter(request.tenant.tenant_name, request.stopSignal);
        admitted.add(request);
        const leave = () => {
          admitted.delete(request);
          release();
        };
        let response: unknown;
        try {
          response = await handle();
          return response;
        } finally {
          if (response instanceof Readable) finished(response, leave);
          else leave();
        }
      });
    });
  },
  { name: "admission" },
);

/** A request waits for at most half of its time, so that its query has the other half. */
function limitsOf({ api, tenants }: Pick<Config, "api" | "tenants">): AdmissionLimits {
  return {
    running: api.max_heavy_reads,
    waiting: api.max_waiting_reads,
    maxWaitMs: (api.request_timeout_seconds / 2) * SECOND,
    shared: tenants.size > 1,
  };
}

export interface AdmissionLimits {
  /** Heavy reads that may run at once. */
  readonly running: number;
  /** Heavy reads that may wait in the queue. If 0, a read is refused when no slot is free. */
  readonly waiting: number;
  /** Maximum time in the queue, in milliseconds. */
  readonly maxWaitMs: number;
  /** Several tenants share the slots. */
  readonly shared: boolean;
}

export interface Load {
  readonly running: number;
  readonly waiting: number;
}

interface Admission {
  /**
   * Waits for a slot, and returns a function that releases it; calling that twice does nothing. Throws TooBusyError if
   * the queue is full or the time is up, and the signal's reason if the signal aborts, which also removes the read from
   * the queue.
   */
  enter(tenantName: string, signal: AbortSignal): Promise<() => void>;
  /** Whether a read in the queue could start if this tenant released a slot. */
  isWanted(tenantName: string): boolean;
}

interface QueuedRead {
  readonly tenantName: string;
  readonly admit: () => void;
}

/** Creates the queue. `onLoad` is called at the start and after every change. */
export function createAdmission(limits: AdmissionLimits, onLoad: (load: Load) => void): Admission {
  /** Running reads by tenant. Tenants without any have no entry. */
  const running = new Map<string, number>();
  /** Oldest first. */
  const queue = new Set<QueuedRead>();
  const tenantLimit = { running: shareOf(limits.running, limits), waiting: shareOf(limits.waiting, limits) };

  const runningOf = (tenantName: string) => running.get(tenantName) ?? 0;
  const reportLoad = () => onLoad({ running: allRunning(), waiting: queue.size });
  const allRunning = () => [...running.values()].reduce((sum, count) => sum + count, 0);
  const isFree = (tenantName: string) =>
    allRunning() < limits.running && runningOf(tenantName) < tenantLimit.running;

  function takeSlot(tenantName: string): () => void {
    running.set(tenantName, runningOf(tenantName) + 1);
    reportLoad();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const remaining = runningOf(tenantName) - 1;
      if (remaining > 0) running.set(tenantName, remaining);
      else running.delete(tenantName);
      reportLoad();
      admitNext();
    };
  }

  function admitNext(): void {
    const [next] = [...queue]
      .filter(({ tenantName }) => isFree(tenantName))
      .sort((one, other) => runningOf(one.tenantName) - runningOf(other.tenantName));
    next?.admit();
  }

  function isFull(tenantName: string): boolean {
    const own = [...queue].filter((read) => read.tenantName === tenantName).length;
    return queue.size >= limits.waiting || own >= tenantLimit.waiting;
  }

  function wait(tenantName: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(read);
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        reportLoad();
      };
      const stop = () => {
        leave();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new TooBusyError(`no free slot for a heavy read of ${tenantName} in ${limits.maxWaitMs} ms`));
      }, limits.maxWaitMs);
      const read: QueuedRead = {
        tenantName,
        admit: () => {
          leave();
          resolve(takeSlot(tenantName));
        },
      };
      queue.add(read);
      reportLoad();
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  reportLoad();
  return {
    async enter(tenantName, signal) {
      signal.throwIfAborted();
      // This overtakes no read in the queue: while a slot is free for this tenant, none of its own reads waits.
      if (isFree(tenantName)) return takeSlot(tenantName);
      if (isFull(tenantName)) throw new TooBusyError(`too many heavy reads of ${tenantName} are waiting`);
      return await wait(tenantName, signal);
    },
    isWanted(releasing) {
      const runningAfter = (tenantName: string) => runningOf(tenantName) - (tenantName === releasing ? 1 : 0);
      return [...queue].some(({ tenantName }) => runningAfter(tenantName) < tenantLimit.running);
    },
  };
}

/** How many of the slots one tenant may take. A quarter of them, and at least one, is reserved for other tenants. */
function shareOf(slots: number, { shared }: AdmissionLimits): number {
  return shared && slots > 1 ? Math.floor(slots * 0.75) : slots;
}
