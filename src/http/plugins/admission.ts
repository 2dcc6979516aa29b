/** Heavy reads wait for a slot before they query the store, and keep it until their response is complete. */
import { finished, Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/config.js";
import { type AdmissionLimits, createAdmission } from "../admission-queue.js";
import { type HttpContext, openTenantStore } from "../context.js";
import { wrapHandler } from "../wrap-handler.js";

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
