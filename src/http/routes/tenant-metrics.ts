/** Serves a tenant's costs to Prometheus. */
import type { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { addDays, dayOf } from "../../common/days.js";
import type { TenantConfig } from "../../config/config.js";
import { type PrometheusEmitter, prometheusEmitterOf } from "../../config/settings/emitters.js";
import { type MetricsPage, openMetricsPage } from "../../query/metrics/tenant-metrics-page.js";
import { preferred, varyBy } from "../accept.js";
import { type HttpContext, openTenantStore } from "../context.js";
import { ApiError } from "../errors.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const TEXT = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const content = (end: string) => ({
  // The handler returns a stream; the document describes it as text.
  schema: Type.Unsafe<Readable>({ type: "string" }),
  example:
    "# HELP chargehouse_chargeback_amount Cost of a day that an identity pays.\n" +
    "# TYPE chargehouse_chargeback_amount gauge\n" +
    'chargehouse_chargeback_amount{tenant_id="acme",ecosystem="confluent_cloud",identity_id="sa-12345",resource_id="lkc-1",' +
    `product_type="KAFKA_NETWORK_READ",cost_type="usage",allocation_method="usage_ratio",currency="USD"} 33.3334\n${end}`,
});

export const tenantMetricsRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/metrics",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false, quiet: true },
        schema: {
          operationId: "getTenantMetrics",
          tags: ["Export"],
          summary: "Costs for Prometheus",
          description:
            "Gauges of the latest days with costs, for a tenant with an emitter of type `prometheus`. The emitter's settings say how many days " +
            "and what else is shown. The values are read from the stores at each scrape; samples have no timestamps. In the text format of " +
            "Prometheus, or as OpenMetrics if `Accept` prefers it.",
          params: tenantPathSchema,
          response: {
            200: {
              description: "Gauges. If the connection breaks before its end, the page is incomplete.",
              content: { "text/plain": content(""), "application/openmetrics-text": content("# EOF\n") },
            },
            ...problemResponses(
              "tenant_not_found",
              "emitter_not_found",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request, reply) => {
        const page = await pageOf(context, request);
        const stream = await openMetricsPage(page, request.stopSignal);
        varyBy(reply, "Accept");
        reply.type(page.openMetrics ? OPEN_METRICS : TEXT);
        return stream;
      },
    );
  };

async function pageOf(context: HttpContext, { tenant, headers }: FastifyRequest): Promise<MetricsPage> {
  const emitter = emitterOf(tenant);
  const { client } = await openTenantStore(context, tenant);
  const { tenant_name: tenantName, tenant_id: tenantId, ecosystem } = tenant;
  const { postgres } = context.stores;
  const since = firstDay(emitter, context.clock());
  const openMetrics = prefersOpenMetrics(headers.accept);
  return { client, postgres, tenantName, tenantId, ecosystem, emitter, since, openMetrics };
}

function emitterOf({ tenant_name, plugin_settings }: TenantConfig): PrometheusEmitter {
  const emitter = prometheusEmitterOf(plugin_settings.emitters);
  if (emitter !== undefined) return emitter;
  const detail = `Tenant ${tenant_name} has no emitter of type prometheus, and therefore no page of metrics.`;
  throw new ApiError("emitter_not_found", detail);
}

/** Undefined if days of any age are shown. */
function firstDay({ lookback_days: lookback }: PrometheusEmitter, now: Date): string | undefined {
  return lookback === undefined ? undefined : addDays(dayOf(now), -lookback);
}

/**
 * Prometheus accepts several formats with different weights. A client without a preference gets the older text format.
 */
export function prefersOpenMetrics(accept?: string): boolean {
  return preferred(accept, ["text/plain", "application/openmetrics-text"]) === "application/openmetrics-text";
}
