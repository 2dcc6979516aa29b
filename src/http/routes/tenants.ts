/** Tenants, and the state of their days. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import type { TenantConfig } from "../../config/config.js";
import { topicAttributionOf } from "../../config/topic-attribution.js";
import { readTrackingDates } from "../../query/state/tenant-status.js";
import { readTenantDates, type TenantDates } from "../../query/state/tenant-summaries.js";
import { mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { dateRange, inputOf, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { TenantSummary, TrackingDate } from "../schemas/tenant.js";
import type { StoreDrift } from "../store-drift.js";

/** A day that no run has missed yet. */
const LOST = { chargeback_calculated: false, state: "lost", last_success: null } as const;

export const tenantRoutes =
  ({ config, stores, facts }: HttpContext): FastifyPluginAsyncTypebox =>
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
            "All configured tenants that the caller may see, in the order of the configuration, with the state of all their dates.",
          response: {
            200: Type.Array(TenantSummary, { description: "The tenants." }),
            ...problemResponses("store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ caller, stopSignal }) => {
        const tenants = [...config.tenants.values()].filter(({ tenant_name }) =>
          mayForTenant(caller, "read", tenant_name),
        );
        const names = tenants.map(({ tenant_name }) => tenant_name);
        const [dates, held] = await Promise.all([
          readTenantDates(stores.postgres, names, stopSignal),
          Promise.all(names.map((name) => facts.check(name))),
        ]);
        return tenants.map((tenant, index) => summaryOf(tenant, dates[index], held[index]));
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
          description: "One record for each day that the pipeline knows, ascending.",
          params: TenantPath,
          querystring: inputOf(dateRange),
          response: {
            200: Type.Array(TrackingDate, { description: "The days." }),
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, window, stopSignal }) => {
        const days = await readTrackingDates(stores.postgres, tenant.tenant_name, window, stopSignal);
        const lost = (await facts.check(tenant.tenant_name))?.lostDays;
        return days.map((day) => (lost?.has(day.tracking_date) ? { ...day, ...LOST } : day));
      },
    );
  };

function summaryOf(
  { tenant_name, tenant_id, ecosystem, plugin_settings }: TenantConfig,
  known: TenantDates | undefined,
  facts: StoreDrift | undefined,
): Static<typeof TenantSummary> {
  const lost = facts?.lostDays.size ?? 0;
  const dates_calculated = Math.max(0, (known?.dates_calculated ?? 0) - lost);
  return {
    tenant_name,
    tenant_id,
    ecosystem,
    dates_pending: known?.dates_pending ?? 0,
    dates_calculated,
    dates_provisional: known?.dates_provisional ?? 0,
    last_calculated_date: dates_calculated === 0 ? null : (known?.last_calculated_date ?? null),
    topic_attribution: topicAttributionOf(plugin_settings)?.enabled === true ? "enabled" : "disabled",
  };
}
