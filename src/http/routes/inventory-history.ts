/** The history of a resource or an identity: when it existed, and its names and owners over time. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readInventoryHistory } from "../../query/inventory/history.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import {
  identityId,
  identityVersionSchema,
  resourceId,
  resourceVersionSchema,
} from "../schemas/inventory.js";
import { envelope, pageSchema } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const VERSIONS =
  "One version for each state that it was in: a new one begins when a gathering finds another name, owner or other content, no longer finds it, or finds " +
  "it again. Versions follow each other without a gap, and a deletion is a version, too.";
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
          description: `When it existed, and who owned it when. ${VERSIONS}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...resourceId, ...paging }),
          response: {
            200: pageSchema(resourceVersionSchema, ORDER),
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
          description: `When it existed, and its names over time. ${VERSIONS}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...identityId, ...paging }),
          response: {
            200: pageSchema(identityVersionSchema, ORDER),
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
