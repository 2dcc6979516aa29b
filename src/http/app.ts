/** The HTTP application: everything between a request and the stores. `server.ts` makes it listen on a port. */
import type { Server } from "node:http";
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyPluginCallback,
} from "fastify";
import { createTagMirror } from "../tags/tag-mirror.js";
import { USUAL_BODY_BYTES } from "./body-limits.js";
import type { HttpContext } from "./context.js";
import { createServiceMetrics } from "./metrics.js";
import { access, requiredScopes } from "./plugins/access.js";
import { admission } from "./plugins/admission.js";
import { audit } from "./plugins/audit.js";
import { compression } from "./plugins/compression.js";
import { consolePages } from "./plugins/console.js";
import { dateWindowPlugin } from "./plugins/date-window.js";
import { errors, sendFrameworkError } from "./plugins/errors.js";
import { allowedHosts, crossOrigin } from "./plugins/host-and-origin.js";
import { openapi } from "./plugins/openapi.js";
import { pagination } from "./plugins/pagination.js";
import { rateLimits } from "./plugins/rate-limits.js";
import { requestId, requestIdOf, requestLog } from "./plugins/request-log.js";
import { responseCache } from "./plugins/response-cache.js";
import { securityHeaders } from "./plugins/security-headers.js";
import { signInPages } from "./plugins/sign-in.js";
import { tagMirror } from "./plugins/tag-mirror.js";
import { tenant } from "./plugins/tenant.js";
import { timeLimit } from "./plugins/time-limit.js";
import { unknownMethods, unknownPaths } from "./plugins/unknown-routes.js";
import { validation } from "./plugins/validation.js";
import { routes, workerRoutes } from "./routes/index.js";
import { proxyCheck } from "./server/trusted-proxies.js";
import { refuseUnreadable } from "./server/unreadable-requests.js";
import { createStoreDriftCheck } from "./store-drift.js";

const SECOND = 1000;

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
  validation,
  admission,
  responseCache,
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
  pagination,
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
    await app.register(signInPages, context);
  }
  app.refuseUnknownMethods();
  return app;
}

/** Returns options of Fastify and Node's server: how they treat connections and requests before the hooks run. */
function serverOptions({
  config: { api },
  logger,
  tls,
}: Pick<HttpContext, "config" | "logger" | "tls">): FastifyHttpOptions<Server, FastifyBaseLogger> {
  const requestTimeout = api.request_timeout_seconds * SECOND;
  // A request that arrives slowly only occupies its connection, and for at most this time.
  const limits = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: SECOND };
  return {
    loggerInstance: logger,
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "request_id",
    }),
    genReqId: requestIdOf,
    // Rate limits and the audit use `request.ip`. If the connection is of a trusted proxy, that is the forwarded
    // address of the client.
    trustProxy: proxyCheck([...api.trusted_proxies, ...(api.proxy?.addresses ?? [])]),
    // The longest path that Node accepts. Schemas limit the parameters. Long ones are harmless: no route has a regular
    // expression.
    routerOptions: { maxParamLength: 16_384 },
    // A request that arrives while the service stops gets a normal response, and its connection is closed after it.
    return503OnClosing: false,
    requestTimeout,
    http: limits,
    // Fastify's own HTTPS options would pass a renewed certificate to the first of several servers only.
    ...(tls && {
      https: {},
      serverFactory: (listener, { keepAliveTimeout }) =>
        tls.create({ ...limits, keepAliveTimeout: Number(keepAliveTimeout) }, listener),
    }),
    bodyLimit: USUAL_BODY_BYTES,
    clientErrorHandler: refuseUnreadable(logger),
    frameworkErrors: sendFrameworkError(api),
  };
}
