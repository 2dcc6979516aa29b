/** The HTTP application: everything between a request and the stores, without a port. `server.ts` gives it one. */
import compress from "@fastify/compress";
import type { TSchema } from "@sinclair/typebox";
import fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { createTagMirror } from "../tags/tag-mirror.js";
import { refuseOtherHosts } from "./allowed-hosts.js";
import type { HttpContext } from "./context.js";
import { allowedOrigin, allowOrigins, refuseForeignPages } from "./cross-origin.js";
import { createFactsWatch } from "./facts-watch.js";
import { createHeavyReads, heavyReadLimits } from "./heavy-reads.js";
import { validatorCompiler } from "./input/validator.js";
import { createServiceMetrics } from "./metrics.js";
import { mirrorBeforeReads } from "./mirror-before-reads.js";
import { describeApi, serveDescription } from "./openapi.js";
import { PROBLEM_TYPE, pathOf, problemOf, sendProblem, toApiError } from "./problem.js";
import { requestIdOf } from "./request-id.js";
import { ClientGoneError, limitRequests } from "./request-signal.js";
import { aggregateRoutes } from "./routes/aggregate.js";
import { allocationIssueRoutes } from "./routes/allocation-issues.js";
import { billingRoutes } from "./routes/billing.js";
import { bulkTagRoutes } from "./routes/bulk-tags.js";
import { chargebackRoutes } from "./routes/chargebacks.js";
import { dimensionRoutes } from "./routes/dimension.js";
import { exportRoutes } from "./routes/export.js";
import { healthRoutes } from "./routes/health.js";
import { inventoryRoutes } from "./routes/inventory.js";
import { metricsRoutes } from "./routes/metrics.js";
import { pipelineRoutes } from "./routes/pipeline.js";
import { pipelineRunRoutes } from "./routes/pipeline-runs.js";
import { readinessRoutes } from "./routes/readiness.js";
import { tagRoutes } from "./routes/tags.js";
import { tenantMetricsRoutes } from "./routes/tenant-metrics.js";
import { tenantRoutes } from "./routes/tenants.js";
import { topicAttributionRoutes } from "./routes/topic-attributions.js";
import { inputOf } from "./schemas/parameters.js";
import { lookUpTenants } from "./tenant-lookup.js";
import { refuseUnknownPaths } from "./unknown-paths.js";
import { refuseUnreadable } from "./unreadable-requests.js";

const SECOND = 1000;

export type AppOptions = Omit<HttpContext, "clock" | "metrics" | "tags" | "heavyReads" | "facts"> &
  Partial<Pick<HttpContext, "clock" | "metrics" | "tags">>;

export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const metrics = options.metrics ?? createServiceMetrics();
  const clock = options.clock ?? (() => new Date());
  const context: HttpContext = {
    ...options,
    clock,
    metrics,
    facts: createFactsWatch({ ...options, tenants: options.config.tenants, clock }),
    heavyReads: createHeavyReads(heavyReadLimits(options.config), ({ running, waiting }) => {
      metrics.heavyReads.set({ state: "running" }, running);
      metrics.heavyReads.set({ state: "waiting" }, waiting);
    }),
    tags: options.tags ?? createTagMirror({ ...options, tenantNames: [...options.config.tenants.keys()] }),
  };
  const loggerInstance: FastifyBaseLogger = context.logger;
  const app = fastify({
    loggerInstance,
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "request_id",
    }),
    genReqId: requestIdOf,
    // As long as Node takes a path to be: what a parameter may be is said by its schema. No route has a regular expression.
    routerOptions: { maxParamLength: 16_384 },
    // What still comes on a connection while the service stops is answered like anything else, and the connection closed.
    return503OnClosing: false,
    // A request that trickles in holds nothing but its connection, and that no longer than this.
    requestTimeout: options.config.api.request_timeout_seconds * SECOND,
    http: {
      headersTimeout: options.config.api.request_timeout_seconds * SECOND,
      connectionsCheckingInterval: SECOND,
    },
    clientErrorHandler: refuseUnreadable(loggerInstance),
    // Comes before all hooks, those for CORS too.
    frameworkErrors: (error, request, { raw }) => {
      const problem = problemOf(toApiError(error, request.method));
      const headers = { "content-type": PROBLEM_TYPE, "x-request-id": request.id };
      const origin = allowedOrigin(options.config.api, request.headers.origin);
      raw
        .writeHead(problem.status, {
          ...headers,
          ...(origin && { "access-control-allow-origin": origin, vary: "Origin" }),
        })
        .end(JSON.stringify(problem));
    },
  });
  readJsonAlone(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof ClientGoneError) return reply.code(499).send();
    return sendProblem(error, request, reply);
  });
  // Each wraps the handlers that the one before has wrapped: the time limit is the outermost.
  context.heavyReads.giveBack(app);
  mirrorBeforeReads(app, context.tags);
  await crossCutting(app, context);
  const refuseMethods = refuseUnknownPaths(app);
  await describeApi(app, context.version, [...options.config.tenants.keys()]);
  await app.register(routes(context));
  refuseMethods();
  return app;
}

/** JSON is all there is. Many clients name it as the type of a body that they do not send: that is no body. */
function readJsonAlone(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, body, done);
  });
}

/** What concerns all requests, in the order in which it has to happen. */
async function crossCutting(
  app: FastifyInstance,
  { config: { api, tenants }, metrics }: HttpContext,
): Promise<void> {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  refuseOtherHosts(app, api);
  await allowOrigins(app, api);
  refuseForeignPages(app, api);
  limitRequests(app, api.request_timeout_seconds);
  lookUpTenants(app, tenants);
  // gzip alone: brotli is slow on long exports. Level 3 is twice as fast as the default and a tenth larger.
  await app.register(compress, { encodings: ["gzip"], threshold: 1024, zlibOptions: { level: 3 } });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "unknown";
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    metrics.requests.observe(labels, reply.elapsedTime / 1000);
    const quiet = route === "/health" || route.endsWith("/metrics");
    request.log[quiet ? "debug" : "info"](
      {
        method: request.method,
        path: pathOf(request.url),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      "request",
    );
  });
}

const NoParameters: TSchema = inputOf({});

const routes = (context: HttpContext) => async (app: FastifyInstance) => {
  app.addHook("onRoute", (route) => {
    if (route.schema) route.schema.querystring ??= NoParameters;
  });
  serveDescription(app);
  await app.register(healthRoutes(context));
  await app.register(metricsRoutes(context));
  for (const noun of [
    readinessRoutes,
    tenantRoutes,
    billingRoutes,
    chargebackRoutes,
    aggregateRoutes,
    allocationIssueRoutes,
    dimensionRoutes,
    tagRoutes,
    topicAttributionRoutes,
    bulkTagRoutes,
    exportRoutes,
    tenantMetricsRoutes,
    inventoryRoutes,
    pipelineRoutes,
    pipelineRunRoutes,
  ]) {
    await app.register(noun(context), { prefix: "/api/v1" });
  }
};
