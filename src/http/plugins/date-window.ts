/** The days that a request is about: of every route whose query or body takes `start_date`. */
import { KindGuard } from "@sinclair/typebox";
import fp from "fastify-plugin";
import { type DateWindow, type DateWindowInput, dateWindow as windowOf } from "../../query/date-window.js";
import type { HttpContext } from "../context.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Of routes that take dates. Made once, so that all that reads the clock means the same day. */
    window: DateWindow;
  }
}

export const dateWindow = fp<Pick<HttpContext, "clock">>(
  async (app, { clock }) => {
    app.decorateRequest("window");
    app.addHook("preHandler", async (request) => {
      const { schema = {} } = request.routeOptions;
      const dates = takesDates(schema.body) ? request.body : request.query;
      if (!takesDates(schema.body) && !takesDates(schema.querystring)) return;
      // Validated by the schema.
      request.window = windowOf(dates as DateWindowInput, request.tenant.lookback_days, clock());
    });
  },
  { name: "date-window", dependencies: ["tenant"] },
);

function takesDates(schema: unknown): boolean {
  return KindGuard.IsObject(schema) && "start_date" in schema.properties;
}
