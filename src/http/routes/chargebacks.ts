/** Chargeback rows, and the days that have any. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyRequest } from "fastify";
import {
  chargebackKey,
  type ChargebackRow as Row,
  readChargebackPages,
} from "../../query/chargebacks/list.js";
import { createScaledDays } from "../../query/chargebacks/scaled-days.js";
import { type ChargebackFilters, readChargebackDates, summedRows } from "../../query/chargebacks/scan.js";
import { type HttpContext, tenantRead } from "../context.js";
import { createListReader } from "../plugins/pagination.js";
import { chargebackDatesSchema, chargebackRowSchema } from "../schemas/chargeback.js";
import { cursorParameter, pageSchema } from "../schemas/page.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  paging,
  tagFilters,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

const ORDER =
  "By UTC day, resource_id, product_type, environment, product_category, timestamp, component, identity_id, currency.";
const cursors = { kind: "chargebacks", columns: chargebackKey };

/**
 * True if neither the row counts of the store nor a table of sums has the total. The schema has validated the query.
 */
const readsAllRows = ({ query }: FastifyRequest) => !summedRows([], query as ChargebackFilters).areSums;

export const chargebackRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readList = createListReader<Row>();
    const scaledDaysOf = createScaledDays();
    app.get(
      "/tenants/:tenant_name/chargebacks",
      {
        config: {
          scope: "read",
          heavy: readsAllRows,
          etag: { ledger: "chargebacks", cached: true },
          showsTags: true,
          cursors,
        },
        schema: {
          operationId: "listChargebacks",
          tags: ["Chargebacks"],
          summary: "Chargeback rows",
          description: `Each row is the part of one billing line that one identity pays. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...paging,
            ...cursorParameter,
            ...dateRange,
            ...timezone,
            ...chargebackFilters,
            ...tagFilters,
          }),
          response: {
            200: pageSchema(chargebackRowSchema, ORDER),
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
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const scaledDays = scaledDaysOf(request.tenant.tenant_name, () => request.publishedDays());
        return await readList(request, (input) =>
          readChargebackPages(client, { ...input, scaledDays }, signal),
        );
      },
    );

    app.get(
      "/tenants/:tenant_name/chargebacks/dates",
      {
        config: { scope: "read", heavy: false, etag: { ledger: "chargebacks" }, showsTags: false },
        schema: {
          operationId: "listChargebackDates",
          tags: ["Chargebacks"],
          summary: "Days with chargebacks",
          description: "All UTC days that have chargeback rows, of any age.",
          params: tenantPathSchema,
          response: {
            200: chargebackDatesSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return { dates: await readChargebackDates(client, signal) };
      },
    );
  };
