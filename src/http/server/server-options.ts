/** Options of Fastify and Node's server: how they treat connections and requests before the hooks run. */
import type { Server } from "node:http";
import fastify, { type FastifyBaseLogger, type FastifyHttpOptions } from "fastify";
import { USUAL_BODY_BYTES } from "../body-limits.js";
import type { HttpContext } from "../context.js";
import { sendFrameworkError } from "../plugins/errors.js";
import { requestIdOf } from "../plugins/request-id.js";
import { proxyCheck } from "./trusted-proxies.js";
import { refuseUnreadable } from "./unreadable-requests.js";

const SECOND = 1000;

export function serverOptions({
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
