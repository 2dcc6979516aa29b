/** All routes of the API. */
import type { TSchema } from "@sinclair/typebox";
import type { FastifyContextConfig, FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { inputOf } from "../schemas/parameters.js";
import { acceptedCauseRoutes } from "./accepted-causes.js";
import { aggregateRoutes } from "./aggregate.js";
import { allocationIssueRoutes } from "./allocation-issues.js";
import { assignmentRoutes } from "./assignments.js";
import { auditRoutes } from "./audit.js";
import { billingRoutes } from "./billing.js";
import { breakdownRoutes } from "./breakdown.js";
import { bulkTagRoutes } from "./bulk-tags.js";
import { changeRoutes } from "./change.js";
import { chargebackRoutes } from "./chargebacks.js";
import { deliveryRoutes } from "./deliveries.js";
import { descriptionRoutes } from "./description.js";
import { dimensionRoutes } from "./dimension.js";
import { eventRoutes } from "./events.js";
import { explainRoutes } from "./explain.js";
import { exportRoutes } from "./export.js";
import { focusMetadataRoutes } from "./focus-metadata.js";
import { healthRoutes } from "./health.js";
import { inventoryRoutes } from "./inventory.js";
import { inventoryHistoryRoutes } from "./inventory-history.js";
import { meRoutes } from "./me.js";
import { metricsRoutes } from "./metrics.js";
import { pipelineRoutes } from "./pipeline.js";
import { pipelineRunRoutes } from "./pipeline-runs.js";
import { readinessRoutes } from "./readiness.js";
import { reconciliationRoutes } from "./reconciliation.js";
import { ruleRoutes } from "./rules.js";
import { sessionRoutes } from "./sessions.js";
import { sqlPortRoutes } from "./sql-port.js";
import { statementsRoutes } from "./statements.js";
import { tagRoutes } from "./tags.js";
import { tenantMetricsRoutes } from "./tenant-metrics.js";
import { tenantRoutes } from "./tenants.js";
import { tokenRoutes } from "./tokens.js";
import { topicAttributionRoutes } from "./topic-attributions.js";
import { usageRoutes } from "./usage.js";

const serviceRoutes = [descriptionRoutes, healthRoutes, metricsRoutes];

const apiRoutes = [
  readinessRoutes,
  meRoutes,
  sessionRoutes,
  tokenRoutes,
  auditRoutes,
  tenantRoutes,
  billingRoutes,
  reconciliationRoutes,
  ruleRoutes,
  chargebackRoutes,
  aggregateRoutes,
  breakdownRoutes,
  changeRoutes,
  allocationIssueRoutes,
  dimensionRoutes,
  explainRoutes,
  tagRoutes,
  assignmentRoutes,
  acceptedCauseRoutes,
  topicAttributionRoutes,
  bulkTagRoutes,
  exportRoutes,
  statementsRoutes,
  focusMetadataRoutes,
  tenantMetricsRoutes,
  inventoryRoutes,
  inventoryHistoryRoutes,
  pipelineRoutes,
  pipelineRunRoutes,
  deliveryRoutes,
  usageRoutes,
  eventRoutes,
  sqlPortRoutes,
];

const NoParameters: TSchema = inputOf({});

/** Registers all routes of the API. */
export async function routes(app: FastifyInstance, context: HttpContext): Promise<void> {
  await registerAll(app, context, { serviceRoutes, apiRoutes });
}

/** Registers the routes of a worker process, which serves no data. */
export async function workerRoutes(app: FastifyInstance, context: HttpContext): Promise<void> {
  await registerAll(app, context, {
    serviceRoutes: [healthRoutes, metricsRoutes],
    apiRoutes: [readinessRoutes],
  });
}

async function registerAll(
  app: FastifyInstance,
  context: HttpContext,
  registered: { readonly serviceRoutes: typeof serviceRoutes; readonly apiRoutes: typeof apiRoutes },
): Promise<void> {
  await app.register(declarations);
  // Without a schema, a query would accept any parameter.
  app.addHook("onRoute", (route) => {
    if (route.schema) route.schema.querystring ??= NoParameters;
  });
  for (const plugin of registered.serviceRoutes) await app.register(plugin(context));
  for (const plugin of registered.apiRoutes) await app.register(plugin(context), { prefix: "/api/v1" });
}

const mandatory = ["scope", "heavy", "etag", "showsTags"] as const satisfies (keyof FastifyContextConfig)[];

/**
 * Throws at startup if a route does not declare a mandatory property of its config, so that no route misses a check
 * silently. It checks routes that are registered after it in the same Fastify scope.
 */
export const declarations = fp(
  async (app) => {
    app.addHook("onRoute", ({ method, url, config }) => {
      const missing = mandatory.filter((name) => config?.[name] === undefined);
      if (missing.length > 0)
        throw new Error(`${[method].flat().join()} ${url} must declare in its config: ${missing.join(", ")}`);
    });
  },
  { name: "declarations", dependencies: ["access", "admission", "response-cache", "tag-mirror"] },
);
