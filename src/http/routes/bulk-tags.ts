/** One tag on many dimensions: those of a list, or all that have rows under filters. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { dateWindow } from "../../query/date-window.js";
import { matchingDimensions, streamDimensionIds } from "../../query/dimension-matches.js";
import { tagInBulk } from "../../tags/bulk.js";
import { completeCopy, type UnknownDimension } from "../../tags/known-dimensions.js";
import { TAGS_PER_ENTRY } from "../../tags/outbox.js";
import { type HttpContext, openTenantStore, tenantRead } from "../context.js";
import { invalidRequest } from "../errors.js";
import { readTagParameters } from "../input/tag-parameters.js";
import { TenantPath } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import { BulkResult, BulkTags, BulkTagsByFilter, MOST_DIMENSIONS } from "../schemas/tag.js";

const problems = ["tenant_not_found", ...bodyProblems, "store_unavailable", "request_timeout"] as const;

export const bulkTagRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = context.stores;

    app.post(
      "/tenants/:tenant_name/tags/bulk",
      {
        schema: {
          operationId: "tagDimensions",
          tags: ["Tags"],
          summary: "Tag many dimensions",
          description:
            "One transaction. Ids that the tenant does not have are listed under `errors`; the others get their tag.",
          params: TenantPath,
          body: BulkTags,
          response: { 200: BulkResult, ...problemResponses(...problems) },
        },
      },
      async ({ tenant: { tenant_name: tenantName }, tenant, body, stopSignal, interruption: stop }) => {
        const ids = distinctIds(body.dimension_ids);
        const store = async () => (await openTenantStore(context, tenant)).client;
        let errors: UnknownDimension[] = [];
        const counts = await tagInBulk({ postgres, tenantName, stop }, body, async function* () {
          const { known, unknown } = await completeCopy(
            { postgres, tenantName, store, signal: stopSignal },
            ids,
          );
          errors = unknown;
          stopSignal.throwIfAborted();
          yield known;
        });
        await context.tags.afterWrite(tenantName);
        return { ...counts, errors };
      },
    );

    app.post(
      "/tenants/:tenant_name/tags/bulk-by-filter",
      {
        schema: {
          operationId: "tagDimensionsByFilter",
          tags: ["Tags"],
          summary: "Tag all dimensions under filters",
          description:
            "All dimensions that have chargeback rows in the window, under the filters, as the list of chargebacks has them, `tag:KEY` too. One " +
            "transaction, without an upper limit.",
          params: TenantPath,
          body: BulkTagsByFilter,
          response: { 200: BulkResult, ...problemResponses("too_busy", ...problems) },
        },
      },
      async (request) => {
        const { tenant, body, interruption: stop } = request;
        const { tenant_name: tenantName } = tenant;
        const window = dateWindow(body, tenant.lookback_days, context.clock());
        const tags = readTagParameters({ ...body }, "body", []);
        if (tags !== undefined) await context.tags.beforeRead(tenantName);
        const { client, signal } = await tenantRead(context, request, "heavy");
        const copy = { postgres, tenantName, store: async () => client, signal };
        const matches = matchingDimensions(window, { ...body, tags });
        const open = () => streamDimensionIds(client, matches, { batch: TAGS_PER_ENTRY, signal });
        // The store has found them all when the first come: before the transaction, which must not wait for it with its locks.
        let ready: AsyncIterable<number[]> | undefined = await begun(open());
        const counts = await tagInBulk({ postgres, tenantName, stop }, body, async function* () {
          const batches = ready ?? open();
          ready = undefined;
          for await (const ids of batches) {
            const { known } = await completeCopy(copy, ids);
            signal.throwIfAborted();
            yield known;
          }
        });
        await context.tags.afterWrite(tenantName);
        return { ...counts, errors: [] };
      },
    );
  };

/** Ascending. */
function distinctIds(given: readonly number[]): number[] {
  const ids = [...new Set(given)].sort((a, b) => a - b);
  if (ids.length <= MOST_DIMENSIONS) return ids;
  const detail = `\`dimension_ids\` must be a list of 1 to ${MOST_DIMENSIONS} different ids.`;
  throw invalidRequest([{ in: "body", name: "dimension_ids", detail, code: "invalid" }]);
}

/** The stream, once its first item is there. */
async function begun<Item>(stream: AsyncGenerator<Item>): Promise<AsyncIterable<Item>> {
  const first = await stream.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* stream;
  })();
}
