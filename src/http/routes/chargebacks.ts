/** Chargeback rows, and the days that have any. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readChargebackDates } from "../../query/chargeback-days.js";
import { chargebackKey, readChargebackPage } from "../../query/chargeback-list.js";
import { type ChargebackFilters, isProjected } from "../../query/chargeback-scan.js";
import { dateWindow } from "../../query/date-window.js";
import { type HttpContext, tenantRead, type Weight } from "../context.js";
import { cursorPage } from "../cursor-page.js";
import { isUnchanged } from "../revalidate.js";
import { ChargebackDates, ChargebackRow } from "../schemas/chargeback.js";
import { cursorParameter, envelope, pageOf } from "../schemas/page.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  paging,
  TenantPath,
  tagFilters,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

const ORDER =
  "By UTC day, resource_id, product_type, environment, product_category, timestamp, component, identity_id.";
const cursors = { kind: "chargebacks", columns: chargebackKey };

/** The total is known to the store's own books or to a projection; else every row is looked at. */
const listWeight = (filters: ChargebackFilters): Weight => (isProjected([], filters) ? "light" : "heavy");

export const chargebackRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks",
      {
        schema: {
          operationId: "listChargebacks",
          tags: ["Chargebacks"],
          summary: "Chargeback rows",
          description: `Each row is the part of one billing line that one identity pays. ${ORDER}`,
          params: TenantPath,
          querystring: inputOf({
            ...paging,
            ...cursorParameter,
            ...dateRange,
            ...timezone,
            ...chargebackFilters,
            ...tagFilters,
          }),
          response: {
            200: pageOf(ChargebackRow, ORDER),
            ...notModified,
            ...problemResponses(
              "tenant_not_found",
              "invalid_cursor",
              "too_busy",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request, reply) => {
        const { page, page_size, cursor, ...filters } = request.query;
        const window = dateWindow(filters, request.tenant.lookback_days, context.clock());
        const { place, nextCursor } = cursorPage(request, cursors, { page, cursor }, filters);
        if (await isUnchanged(context, request, reply, window)) return reply.code(304).send(undefined);
        const { client, signal } = await tenantRead(context, request, listWeight(filters));
        const found = await readChargebackPage(client, { page, page_size, place, window, filters }, signal);
        return envelope({ ...found, next_cursor: nextCursor(found.next) }, { page, page_size });
      },
    );

    app.get(
      "/tenants/:tenant_name/chargebacks/dates",
      {
        schema: {
          operationId: "listChargebackDates",
          tags: ["Chargebacks"],
          summary: "Days with chargebacks",
          description: "Every UTC day that has chargeback rows, whatever its age.",
          params: TenantPath,
          response: {
            200: ChargebackDates,
            ...notModified,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request, reply) => {
        if (await isUnchanged(context, request, reply)) return reply.code(304).send(undefined);
        const { client, signal } = await tenantRead(context, request);
        return { dates: await readChargebackDates(client, signal) };
      },
    );
  };
