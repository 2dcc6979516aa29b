/** Resources, identities, and how many there are: now, or as it was known at some time. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readInventoryPage } from "../../query/inventory/list.js";
import { readInventorySummary } from "../../query/inventory/summary.js";
import type { HttpContext } from "../context.js";
import {
  countedAt,
  Identity,
  InventorySummary,
  identityFilters,
  Resource,
  resourceFilters,
} from "../schemas/inventory.js";
import { cursorParameter, envelope, pageOf } from "../schemas/page.js";
import { inputOf, paging, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const LISTED =
  "Without `active_at` and without a period, all that are known, deleted ones too, as they are now. With one, those that were " +
  "active then, with the names and owners of that time: one that was deleted and came back is missing in between. What the first " +
  "gathering found also stands for the time before it.";
const ORDER = "By `sort` and `order`, ties by id.";
const problems = problemResponses(
  "tenant_not_found",
  "invalid_cursor",
  "store_unavailable",
  "request_timeout",
);

export const inventoryRoutes =
  ({ stores }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/resources",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listResources",
          tags: ["Inventory"],
          summary: "Resources",
          description: `What the tenant pays for. ${LISTED}`,
          params: TenantPath,
          querystring: inputOf({ ...paging, ...cursorParameter, ...resourceFilters }),
          response: { 200: pageOf(Resource, ORDER), ...problems },
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
          description: `Who pays. ${LISTED} UNALLOCATED, who pays what nobody was found for, is one of them and never deleted.`,
          params: TenantPath,
          querystring: inputOf({ ...paging, ...cursorParameter, ...identityFilters }),
          response: { 200: pageOf(Identity, ORDER), ...problems },
        },
      },
      async ({ tenant: { tenant_name }, query: { identity_type: type, ...query }, stopSignal }) => {
        const input = { ...query, type };
        const found = await readInventoryPage(stores.postgres, "identities", tenant_name, input, stopSignal);
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
            "What has no `deleted_at` is active. With `active_at`, what was known of then: what had been " +
            "created until then, or at a time not known, and of it what was deleted by then.",
          params: TenantPath,
          querystring: inputOf(countedAt),
          response: {
            200: InventorySummary,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, query, stopSignal }) =>
        readInventorySummary(stores.postgres, tenant.tenant_name, query.active_at, stopSignal),
    );
  };
