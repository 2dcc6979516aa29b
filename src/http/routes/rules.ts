/** Reports about allocation rules. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyRequest } from "fastify";
import { dayOfSeconds } from "../../common/days.js";
import { digestOf } from "../../common/digest.js";
import { mapHashes, mapsOn } from "../../config/allocation/identity-map.js";
import { isAssigned } from "../../config/allocation/identity-source.js";
import { readRulesReport } from "../../query/rules/report.js";
import { readTagCoverage } from "../../query/rules/tag-coverage.js";
import { readWorklist } from "../../query/rules/worklist.js";
import { type HttpContext, tenantRead } from "../context.js";
import { causeFilters } from "../schemas/allocation-issue.js";
import { envelope, pageSchema } from "../schemas/page.js";
import { dateRange, id, inputOf, paging, tenantPathSchema, valueFilter } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";
import { rulesReportSchema, tagCoverageSchema } from "../schemas/rules.js";
import { worklistItemSchema } from "../schemas/worklist.js";

const WORKLIST_ORDER = "The largest amounts first, whatever their sign.";

export const ruleRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/rules",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", form: byConfiguration },
          showsTags: false,
        },
        schema: {
          operationId: "listRules",
          tags: ["Rules"],
          summary: "Allocation rules and the lines that they matched",
          description:
            "Each rule, in the order in which rules are tried, with the lines that it matched on the published days of a period, their amount, and " +
            "how much each tier split. Amounts of different currencies are never added. A published day keeps the rules that it was calculated by, so " +
            "a rule that was changed today shows the lines that it matched before the change.",
          params: tenantPathSchema,
          querystring: inputOf({ ...dateRange }),
          response: {
            200: rulesReportSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { rules, identity, pass_on: steps } = request.tenant.allocation;
        return readRulesReport(client, { window: request.window, rules, identity, steps }, signal);
      },
    );

    app.get(
      "/tenants/:tenant_name/worklist",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", form: byConfiguration },
          showsTags: false,
        },
        schema: {
          operationId: "getWorklist",
          tags: ["Rules"],
          summary: "Unallocated costs, and what is missing to allocate them",
          description:
            "Billing lines with a cost that no identity pays, except those that are unallocated by design, summed by the " +
            "columns that they have in common. Each item shows what every " +
            `identity source of the configuration is missing to find the payer: a bill tag, or a value in a map. ${WORKLIST_ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...paging,
            ...dateRange,
            resource_id: valueFilter("resource_id", "resource", id("lkc-1a2b3c")).resource_id,
            ...causeFilters,
          }),
          response: {
            200: pageSchema(worklistItemSchema, WORKLIST_ORDER),
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { tenant, window, query } = request;
        const { page, page_size, ...filters } = query;
        const input = {
          window,
          filters,
          page,
          page_size,
          columns: tenant.line_columns,
          sources: tenant.allocation.identity.filter((source) => !isAssigned(source)),
          maps: mapsOn(tenant.identity_maps, dayOfSeconds(window.to - 1)),
        };
        return envelope(await readWorklist(client, input, signal), query);
      },
    );

    app.get(
      "/tenants/:tenant_name/tag-coverage",
      {
        config: { scope: "read", heavy: true, etag: { ledger: "chargebacks" }, showsTags: false },
        schema: {
          operationId: "getTagCoverage",
          tags: ["Rules"],
          summary: "Coverage of bill tags",
          description:
            "For each bill tag of the lines, the amount of the lines that have it, by product type: the part of the bill that rules and identity " +
            "sources can match by it. Labels of chargeback dimensions do not count.",
          params: tenantPathSchema,
          querystring: inputOf({ ...dateRange }),
          response: {
            200: tagCoverageSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return readTagCoverage(client, request.window, signal);
      },
    );
  };

/** The response also depends on the rules, sources and maps, which are read once, at startup. */
function byConfiguration({ tenant: { allocation, identity_maps: maps } }: FastifyRequest): string {
  return digestOf([allocation, mapHashes(maps)]);
}
