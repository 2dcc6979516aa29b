/** Heavy reads of the API wait for their place before the store hears of them, and keep it until their answer is made. */
import { finished, Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Config } from "../../config/config.js";
import { type AdmissionLimits, createAdmission } from "../admission-queue.js";
import { type HttpContext, openTenantStore } from "../context.js";
import { wrapHandler } from "../wrap-handler.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route, or this request of it, may look at most of what a tenant has. */
    heavy: boolean | ((request: FastifyRequest) => boolean);
  }
  interface FastifyRequest {
    /** Whether somebody waits for the place that this request has. */
    isPlaceWanted(): boolean;
  }
}

const SECOND = 1000;

export const admission = fp<Pick<HttpContext, "config" | "metrics" | "stores">>(
  async (app, context) => {
    const { enter, isWanted } = createAdmission(limitsOf(context.config), ({ running, waiting }) => {
      context.metrics.heavyReads.set({ state: "running" }, running);
      context.metrics.heavyReads.set({ state: "waiting" }, waiting);
    });
    const places = new WeakSet<FastifyRequest>();
    app.decorateRequest("isPlaceWanted", function () {
      return places.has(this) && isWanted(this.tenant.tenant_name);
    });
    app.addHook("onRoute", (route) => {
      const { heavy = false } = route.config ?? {};
      if (heavy === false) return;
      wrapHandler(route, async (request, _reply, handle) => {
        if (typeof heavy === "function" && !heavy(request)) return await handle();
        // First, so that nobody waits in line for a store that is away.
        await openTenantStore(context, request.tenant);
        const giveBack = await enter(request.tenant.tenant_name, request.stopSignal);
        places.add(request);
        const leave = () => {
          places.delete(request);
          giveBack();
        };
        let answer: unknown;
        try {
          answer = await handle();
          return answer;
        } finally {
          if (answer instanceof Readable) finished(answer, leave);
          else leave();
        }
      });
    });
  },
  { name: "admission" },
);

/** Half of a request's time is left for its query. */
function limitsOf({ api, tenants }: Pick<Config, "api" | "tenants">): AdmissionLimits {
  return {
    running: api.max_heavy_reads,
    waiting: api.max_waiting_reads,
    patience: (api.request_timeout_seconds / 2) * SECOND,
    shared: tenants.size > 1,
  };
}
