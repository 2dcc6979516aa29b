/** Tenants, and the state of their days. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { topicAttributionOf } from "../../config/topic-attribution.js";
import { dateWindow } from "../../query/date-window.js";
import { readTrackingDates } from "../../query/tenant-status.js";
import { readTenantDates } from "../../query/tenant-summaries.js";
import type { HttpContext } from "../context.js";
import { dateRange, inputOf, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { TenantSummary, TrackingDate } from "../schemas/tenant.js";

/** A day that no run has missed yet. */
const LOST = { chargeback_calculated: false, state: "lost", last_success: null } as const;

export const tenantRoutes =
  ({ config, stores, clock, facts }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants",
      {
        schema: {
          operationId: "listTenants",
          tags: ["Tenants"],
          summary: "Tenants",
          description:
            "All configured tenants, in the order of the configuration, with the state of all their dates.",
          response: {
            200: Type.Array(TenantSummary, { description: "The tenants." }),
            ...problemResponses("store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ stopSignal }) => {
        const tenants = [...config.tenants.values()];
        const dates = await readTenantDates(stores.postgres, [...config.tenants.keys()], stopSignal);
        const held = await Promise.all(tenants.map(({ tenant_name }) => facts.look(tenant_name)));
        return tenants.map(({ tenant_name, tenant_id, ecosystem, plugin_settings }, index) => {
          const known = dates[index];
          const dates_pending = known?.dates_pending ?? 0;
          const lost = held[index]?.lostDays.size ?? 0;
          const dates_calculated = Math.max(0, (known?.dates_calculated ?? 0) - lost);
          const last_calculated_date = dates_calculated === 0 ? null : (known?.last_calculated_date ?? null);
          const dates_provisional = known?.dates_provisional ?? 0;
          const isEnabled = topicAttributionOf(plugin_settings)?.enabled === true;
          return {
            ...{
              tenant_name,
              tenant_id,
              ecosystem,
              dates_pending,
              dates_calculated,
              dates_provisional,
              last_calculated_date,
            },
            topic_attribution: isEnabled ? ("enabled" as const) : ("disabled" as const),
          };
        });
      },
    );

    app.get(
      "/tenants/:tenant_name/status",
      {
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
      async ({ tenant, query, stopSignal }) => {
        const window = dateWindow(query, tenant.lookback_days, clock());
        const days = await readTrackingDates(stores.postgres, tenant.tenant_name, window, stopSignal);
        const lost = (await facts.look(tenant.tenant_name))?.lostDays;
        return days.map((day) => (lost?.has(day.tracking_date) ? { ...day, ...LOST } : day));
      },
    );
  };
