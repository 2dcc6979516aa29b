/** Tenants, and the state of their days. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import type { TenantConfig } from "../../config/config.js";
import { topicAttributionOf } from "../../config/settings/topic-attribution.js";
import { readTrackingDates } from "../../query/state/tenant-status.js";
import { readTenantDates, type TenantDates } from "../../query/state/tenant-summaries.js";
import { mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { dateRange, inputOf, tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { tenantSummarySchema, trackingDateSchema } from "../schemas/tenant.js";
import type { StoreDrift } from "../store-drift.js";

/** The state of a day that the store has lost, and no run has noticed yet. */
const LOST = { chargeback_calculated: false, state: "lost", last_success: null } as const;

export const tenantRoutes =
  ({ config, stores, drift }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listTenants",
          tags: ["Tenants"],
          summary: "Tenants",
          description:
            "All configured tenants that the caller may see, in the order of the configuration, with the state of their days.",
          response: {
            200: Type.Array(tenantSummarySchema, { description: "The tenants." }),
            ...problemResponses("store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ caller, stopSignal }) => {
        const tenants = [...config.tenants.values()].filter(({ tenant_name }) =>
          mayForTenant(caller, "read", tenant_name),
        );
        const names = tenants.map(({ tenant_name }) => tenant_name);
        const [dates, drifts] = await Promise.all([
          readTenantDates(stores.postgres, names, stopSignal),
          Promise.all(names.map((name) => drift.check(name))),
        ]);
        return tenants.map((tenant, index) => summaryOf(tenant, dates[index], drifts[index]));
      },
    );

    app.get(
      "/tenants/:tenant_name/status",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getTenantStatus",
          tags: ["Tenants"],
          summary: "State of a tenant's days",
          description: "One record for each day that the pipeline has processed, ascending.",
          params: tenantPathSchema,
          querystring: inputOf(dateRange),
          response: {
            200: Type.Array(trackingDateSchema, { description: "The days." }),
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, window, stopSignal }) => {
        const days = await readTrackingDates(stores.postgres, tenant.tenant_name, window, stopSignal);
        const lost = (await drift.check(tenant.tenant_name))?.lostDays;
        return days.map((day) => (lost?.has(day.tracking_date) ? { ...day, ...LOST } : day));
      },
    );
  };

function summaryOf(
  { tenant_name, tenant_id, ecosystem, plugin_settings }: TenantConfig,
  dates: TenantDates | undefined,
  storeDrift: StoreDrift | undefined,
): Static<typeof tenantSummarySchema> {
  const lost = storeDrift?.lostDays.size ?? 0;
  const dates_calculated = Math.max(0, (dates?.dates_calculated ?? 0) - lost);
  return {
    tenant_name,
    tenant_id,
    ecosystem,
    dates_pending: dates?.dates_pending ?? 0,
    dates_calculated,
    dates_provisional: dates?.dates_provisional ?? 0,
    last_calculated_date: dates_calculated === 0 ? null : (dates?.last_calculated_date ?? null),
    topic_attribution: topicAttributionOf(plugin_settings)?.enabled === true ? "enabled" : "disabled",
  };
}
