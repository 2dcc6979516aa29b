/** The HTTP application: everything between a request and the stores. `server.ts` makes it listen on a port. */
import fastify, { type FastifyInstance, type FastifyPluginCallback } from "fastify";
import { createTagMirror } from "../tags/tag-mirror.js";
import type { HttpContext } from "./context.js";
import { createServiceMetrics } from "./metrics.js";
import { access, requiredScopes } from "./plugins/access.js";
import { admission } from "./plugins/admission.js";
import { allowedHosts } from "./plugins/allowed-hosts.js";
import { audit } from "./plugins/audit.js";
import { compression } from "./plugins/compression.js";
import { consolePages } from "./plugins/console.js";
import { crossOrigin } from "./plugins/cross-origin.js";
import { cursors } from "./plugins/cursors.js";
import { dateWindowPlugin } from "./plugins/date-window.js";
import { errors } from "./plugins/errors.js";
import { json } from "./plugins/json.js";
import { openapi } from "./plugins/openapi.js";
import { rateLimits } from "./plugins/rate-limits.js";
import { requestId } from "./plugins/request-id.js";
import { requestLog } from "./plugins/request-log.js";
import { revalidation } from "./plugins/revalidation.js";
import { securityHeaders } from "./plugins/security-headers.js";
import { tagMirror } from "./plugins/tag-mirror.js";
import { tenant } from "./plugins/tenant.js";
import { timeLimit } from "./plugins/time-limit.js";
import { unknownMethods } from "./plugins/unknown-methods.js";
import { unknownPaths } from "./plugins/unknown-paths.js";
import { routes, workerRoutes } from "./routes/index.js";
import { serverOptions } from "./server/server-options.js";
import { createStoreDriftCheck } from "./store-drift.js";

export type AppOptions = Omit<HttpContext, "clock" | "metrics" | "tags" | "drift"> &
  Partial<Pick<HttpContext, "clock" | "metrics" | "tags">>;

/**
 * Hooks run in this order. Plugins that wrap handlers come first, the innermost before the others. So the order of
 * their work is: the time limit starts (`timeLimit`), tags are mirrored, `If-None-Match` is compared, and only then
 * does the request wait for a slot. A plugin that needs another one before it names it in `dependencies`.
 */
const plugins: readonly FastifyPluginCallback<HttpContext>[] = [
  requiredScopes,
  errors,
  json,
  admission,
  revalidation,
  tagMirror,
  securityHeaders,
  requestId,
  allowedHosts,
  crossOrigin,
  timeLimit,
  access,
  rateLimits,
  tenant,
  audit,
  dateWindowPlugin,
  cursors,
  compression,
  requestLog,
  unknownPaths,
  unknownMethods,
];

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const clock = options.clock ?? (() => new Date());
  const context: HttpContext = {
    ...options,
    clock,
    metrics: options.metrics ?? createServiceMetrics(),
    drift: createStoreDriftCheck({ ...options, tenants: options.config.tenants, clock }),
    tags: options.tags ?? createTagMirror({ ...options, tenantNames: [...options.config.tenants.keys()] }),
  };
  const app = fastify(serverOptions(context));
  for (const plugin of plugins) await app.register(plugin, context);
  if (context.mode === "worker") {
    await app.register(workerRoutes, context);
  } else {
    await app.register(openapi, context);
    await app.register(routes, context);
    await app.register(consolePages, context);
  }
  app.refuseUnknownMethods();
  return app;
}
