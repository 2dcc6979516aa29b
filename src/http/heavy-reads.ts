/** Heavy reads of the API wait for their place before the store hears of them, and keep it until their answer is made. */
import { finished, Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { Config } from "../config/config.js";
import { type AdmissionLimits, createAdmission, type Load } from "./admission.js";

const SECOND = 1000;

/** Half of a request's time is left for its query. */
export function heavyReadLimits({ api, tenants }: Pick<Config, "api" | "tenants">): AdmissionLimits {
  return {
    running: api.max_heavy_reads,
    waiting: api.max_waiting_reads,
    patience: (api.request_timeout_seconds / 2) * SECOND,
    shared: tenants.size > 1,
  };
}

export interface HeavyReads {
  /** Waits until the request may read; a request has one place, however often it asks. */
  admit(request: FastifyRequest): Promise<void>;
  /** Whether somebody waits for the place of a request. */
  isWanted(request: FastifyRequest): boolean;
  /** Wraps what answers requests: a place is given back when the handler is done, or its stream has ended. */
  giveBack(app: FastifyInstance): void;
}

export function createHeavyReads(limits: AdmissionLimits, onLoad: (load: Load) => void): HeavyReads {
  const admission = createAdmission(limits, onLoad);
  const places = new WeakMap<FastifyRequest, () => void>();
  const leave = (request: FastifyRequest) => {
    places.get(request)?.();
    places.delete(request);
  };
  return {
    async admit(request) {
      if (places.has(request)) return;
      places.set(request, await admission.enter(request.tenant.tenant_name, request.stopSignal));
    },
    isWanted: (request) => places.has(request) && admission.isWanted(request.tenant.tenant_name),
    giveBack(app) {
      app.addHook("onRoute", (route) => {
        const { handler } = route;
        const leaving: RouteHandlerMethod = async function (request, reply) {
          let answer: unknown;
          try {
            // A handler that returns nothing answers through the reply, which can be waited for.
            answer = await (handler.call(this, request, reply) ?? reply);
            return answer;
          } finally {
            if (answer instanceof Readable) finished(answer, () => leave(request));
            else leave(request);
          }
        };
        route.handler = leaving;
      });
    },
  };
}
