/** What Fastify, and Node's server below it, do with connections and requests before there are hooks. */
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
  // A request that trickles in holds nothing but its connection, and that no longer than this.
  const limits = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: SECOND };
  return {
    loggerInstance: logger,
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "request_id",
    }),
    genReqId: requestIdOf,
    // `request.ip`, for limits and the audit: the client's, where a proxy that is known says which that is.
    trustProxy: proxyCheck([...api.trusted_proxies, ...(api.proxy?.addresses ?? [])]),
    // As long as Node takes a path to be: what a parameter may be is said by its schema. No route has a regular expression.
    routerOptions: { maxParamLength: 16_384 },
    // What still comes on a connection while the service stops is answered like anything else, and the connection closed.
    return503OnClosing: false,
    requestTimeout,
    http: limits,
    // Of Fastify's own options for HTTPS a renewed certificate would reach the first of several servers alone.
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
