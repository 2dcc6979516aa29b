/** Reads that show tags begin when the tenant's store shows all tags that are committed: whoever wrote one sees it at once. */
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { TagMirror } from "../tags/tag-mirror.js";

const chargebacks = "/api/v1/tenants/:tenant_name/chargebacks";

/** Routes that read tags from the store. */
const readers: ReadonlySet<string | undefined> = new Set([
  chargebacks,
  `${chargebacks}/aggregate`,
  `${chargebacks}/allocation-issues`,
  "/api/v1/tenants/:tenant_name/export",
]);

export function mirrorBeforeReads(app: FastifyInstance, tags: TagMirror): void {
  app.addHook("onRoute", (route) => {
    if (!readers.has(route.url)) return;
    const { handler } = route;
    const mirrored: RouteHandlerMethod = async function (request, reply) {
      await tags.beforeRead(request.tenant.tenant_name);
      request.stopSignal.throwIfAborted();
      return await handler.call(this, request, reply);
    };
    route.handler = mirrored;
  });
  app.addHook("onReady", async () => tags.start());
  app.addHook("onClose", async () => tags.stop());
}
