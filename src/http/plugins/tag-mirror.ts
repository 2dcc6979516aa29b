/**
 * A read that shows tags waits until the tenant's store has all committed tags, so that a client sees its own writes at
 * once.
 */
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { wrapHandler } from "./time-limit.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route, or this request of it, reads tags from the tenant's store. */
    showsTags: boolean | ((request: FastifyRequest) => boolean);
  }
}

export const tagMirror = fp<Pick<HttpContext, "tags">>(
  async (app, { tags }) => {
    app.addHook("onRoute", (route) => {
      const { showsTags = false } = route.config ?? {};
      if (showsTags === false) return;
      wrapHandler(route, async (request, _reply, handle) => {
        if (typeof showsTags === "function" && !showsTags(request)) return await handle();
        await tags.beforeRead(request.tenant.tenant_name);
        request.stopSignal.throwIfAborted();
        return await handle();
      });
    });
    app.addHook("onReady", async () => tags.start());
    app.addHook("onClose", async () => tags.stop());
  },
  // Wraps the computation of ETags, because the state of the tags is part of them.
  { name: "tag-mirror", dependencies: ["response-cache"] },
);
