/** What one resource or identity was over time: its lifetimes, and whose it was when. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readInventoryHistory } from "../../query/inventory/history.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { IdentityVersion, ofIdentity, ofResource, ResourceVersion } from "../schemas/inventory.js";
import { envelope, pageOf } from "../schemas/page.js";
import { inputOf, paging, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const VERSIONS =
  "One version for each state it was in: it changes when a gathering finds another name, owner or other content, no longer finds it, or finds it " +
  "again. Versions follow each other without a gap, and a deletion is one of them.";
const ORDER = "The newest first.";

export const inventoryHistoryRoutes =
  ({ stores }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/resources/history",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getResourceHistory",
          tags: ["Inventory"],
          summary: "History of a resource",
          description: `When it was there, and whose it was when. ${VERSIONS}`,
          params: TenantPath,
          querystring: inputOf({ ...ofResource, ...paging }),
          response: {
            200: pageOf(ResourceVersion, ORDER),
            ...problemResponses(
              "tenant_not_found",
              "resource_not_found",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant: { tenant_name: tenantName }, query: { resource_id: id, ...page }, stopSignal }) => {
        const entity = { tenantName, id };
        const found = await readInventoryHistory(stores.postgres, "resources", entity, page, stopSignal);
        if (found.total === 0) throw new ApiError("resource_not_found", "The tenant has no such resource.");
        return envelope(found, page);
      },
    );

    app.get(
      "/tenants/:tenant_name/identities/history",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getIdentityHistory",
          tags: ["Inventory"],
          summary: "History of an identity",
          description: `When it was there, and what it was called when. ${VERSIONS}`,
          params: TenantPath,
          querystring: inputOf({ ...ofIdentity, ...paging }),
          response: {
            200: pageOf(IdentityVersion, ORDER),
            ...problemResponses(
              "tenant_not_found",
              "identity_not_found",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant: { tenant_name: tenantName }, query: { identity_id: id, ...page }, stopSignal }) => {
        const entity = { tenantName, id };
        const found = await readInventoryHistory(stores.postgres, "identities", entity, page, stopSignal);
        if (found.total === 0) throw new ApiError("identity_not_found", "The tenant has no such identity.");
        return envelope(found, page);
      },
    );
  };
