/** Resources, identities and their counts: now, or as they were known at an earlier time. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readInventoryCosts } from "../../query/inventory/costs.js";
import { readInventoryPage } from "../../query/inventory/list.js";
import { readInventorySummary } from "../../query/inventory/summary.js";
import { type HttpContext, tenantRead } from "../context.js";
import {
  costParameters,
  countedAt,
  identityFilters,
  identitySchema,
  inventoryCostSchema,
  inventorySummarySchema,
  resourceFilters,
  resourceSchema,
} from "../schemas/inventory.js";
import { cursorParameter, envelope, pageSchema } from "../schemas/page.js";
import { dateRange, inputOf, paging, tenantPathSchema, timezone } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const LISTED =
  "By default, lists all known entries, including deleted ones, in their current state. With `active_at` or a period, lists those that were " +
  "active then, with the names and owners of that time. An entry that was deleted and created again is not active in between. For times " +
  "before the first gathering, the state at the first gathering is used.";
const ORDER = "By `sort` and `order`, ties by id.";
const problems = problemResponses(
  "tenant_not_found",
  "invalid_cursor",
  "store_unavailable",
  "request_timeout",
);

export const inventoryRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { stores } = context;
    app.get(
      "/tenants/:tenant_name/resources",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listResources",
          tags: ["Inventory"],
          summary: "Resources",
          description: `Resources that the tenant pays for. ${LISTED}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...paging, ...cursorParameter, ...resourceFilters }),
          response: { 200: pageSchema(resourceSchema, ORDER), ...problems },
        },
      },
      async ({ tenant: { tenant_name }, query: { resource_type: type, ...query }, stopSignal }) => {
        const input = { ...query, type };
        const found = await readInventoryPage(stores.postgres, "resources", tenant_name, input, stopSignal);
        return envelope(found, query);
      },
    );

    app.get(
      "/tenants/:tenant_name/identities",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listIdentities",
          tags: ["Inventory"],
          summary: "Identities",
          description: `Identities that pay. ${LISTED} \`UNALLOCATED\` is always in the list: costs without another identity are charged to it.`,
          params: tenantPathSchema,
          querystring: inputOf({ ...paging, ...cursorParameter, ...identityFilters }),
          response: { 200: pageSchema(identitySchema, ORDER), ...problems },
        },
      },
      async ({ tenant: { tenant_name }, query: { identity_type: type, ...query }, stopSignal }) => {
        const input = { ...query, type };
        const found = await readInventoryPage(stores.postgres, "identities", tenant_name, input, stopSignal);
        return envelope(found, query);
      },
    );

    app.get(
      "/tenants/:tenant_name/inventory/costs",
      {
        config: { scope: "read", heavy: true, etag: false, showsTags: false },
        schema: {
          operationId: "listInventoryCosts",
          tags: ["Inventory"],
          summary: "Resources or identities by cost",
          description:
            "Resources or identities with what they cost in a period, by default the largest first. They are shown as they are known now, whatever " +
            "the period. What only chargebacks name is in the list as well, so the amounts of all pages add up to the costs of the period.",
          params: tenantPathSchema,
          querystring: inputOf({ ...costParameters, ...paging, ...dateRange, ...timezone }),
          response: {
            200: pageSchema(inventoryCostSchema, "By `order`."),
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { window, query } = request;
        const { client, signal } = await tenantRead(context, request);
        const { postgres } = stores;
        const input = { ...query, window };
        const found = await readInventoryCosts(
          { client, postgres },
          request.tenant.tenant_name,
          input,
          signal,
        );
        return envelope(found, query);
      },
    );

    app.get(
      "/tenants/:tenant_name/inventory/summary",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getInventorySummary",
          tags: ["Inventory"],
          summary: "Number of resources and identities",
          description:
            "Entities without `deleted_at` are active. With `active_at`: counts as of that time. Entities without a creation time count as " +
            "created; entities deleted by then count as deleted.",
          params: tenantPathSchema,
          querystring: inputOf(countedAt),
          response: {
            200: inventorySummarySchema,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, query, stopSignal }) =>
        readInventorySummary(stores.postgres, tenant.tenant_name, query.active_at, stopSignal),
    );
  };
