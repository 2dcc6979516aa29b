/** Computes the window of a request from its dates, for every route whose query or body has `start_date`. */
import { KindGuard } from "@sinclair/typebox";
import fp from "fastify-plugin";
import {
  type DateWindow,
  type DateWindowInput,
  dateWindow as windowOf,
} from "../../query/time/date-window.js";
import type { HttpContext } from "../context.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the route takes dates. It is computed once per request, so that all code uses the same day as today. */
    window: DateWindow;
  }
}

export const dateWindowPlugin = fp<Pick<HttpContext, "clock">>(
  async (app, { clock }) => {
    app.decorateRequest("window");
    app.addHook("preHandler", async (request) => {
      const { body, querystring } = request.routeOptions.schema ?? {};
      const dates = takesDates(body) ? request.body : takesDates(querystring) ? request.query : undefined;
      if (dates === undefined) return;
      // The schema has validated them.
      request.window = windowOf(dates as DateWindowInput, request.tenant.lookback_days, clock());
    });
  },
  { name: "date-window", dependencies: ["tenant"] },
);

function takesDates(schema: unknown): boolean {
  return KindGuard.IsObject(schema) && "start_date" in schema.properties;
}
