/** Adds one tag to many dimensions: to a list of them, or to all that have rows that match filters. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { matchingDimensions, streamDimensionIds } from "../../query/chargebacks/dimensions.js";
import { previewBulk, tagInBulk } from "../../tags/bulk.js";
import { completeCopy, type UnknownDimension } from "../../tags/known-dimensions.js";
import { TAGS_PER_ENTRY } from "../../tags/outbox.js";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { type HttpContext, openTenantStore, tenantRead } from "../context.js";
import { invalidRequest } from "../errors.js";
import { hasTagParameters, readTagParameters } from "../input/tag-parameters.js";
import { storeUnavailable } from "../problem.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import { bulkResultSchema, bulkTagsByFilterSchema, bulkTagsSchema, MOST_DIMENSIONS } from "../schemas/tag.js";

const problems = ["tenant_not_found", ...bodyProblems, "store_unavailable", "request_timeout"] as const;

export const bulkTagRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      "/tenants/:tenant_name/tags/bulk",
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "tagDimensions",
          tags: ["Tags"],
          summary: "Label many dimensions",
          description:
            "One transaction. Ids that the tenant does not have are listed in `errors`; all other dimensions get the label.",
          params: tenantPathSchema,
          body: bulkTagsSchema,
          response: { 200: bulkResultSchema, ...problemResponses(...problems) },
        },
      },
      (request) => tagListed(context, request, request.body),
    );

    app.post(
      "/tenants/:tenant_name/tags/bulk-by-filter",
      {
        config: { scope: "tags", heavy: true, etag: false, showsTags: ({ body }) => hasTagParameters(body) },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "tagDimensionsByFilter",
          tags: ["Tags"],
          summary: "Label all dimensions that match filters",
          description:
            "Labels all dimensions that have matching chargeback rows in the window. The filters are those of the list of chargebacks, including " +
            "`tag:KEY`. One transaction, without an upper limit.",
          params: tenantPathSchema,
          body: bulkTagsByFilterSchema,
          response: { 200: bulkResultSchema, ...problemResponses("too_busy", ...problems) },
        },
      },
      (request) => tagMatching(context, request, request.body),
    );
  };

type Result = Static<typeof bulkResultSchema>;

async function tagListed(
  context: HttpContext,
  { tenant, stopSignal, interruption: stop }: FastifyRequest,
  body: Static<typeof bulkTagsSchema>,
): Promise<Result> {
  const { postgres } = context.stores;
  const { tenant_name: tenantName } = tenant;
  const ids = distinctIds(body.dimension_ids);
  const store = async () => (await openTenantStore(context, tenant)).client;
  let errors: UnknownDimension[] = [];
  const work = body.dry_run ? previewBulk : tagInBulk;
  const counts = await work({ postgres, tenantName, stop }, body, async function* () {
    const { known, unknown } = await completeCopy({ postgres, tenantName, store, signal: stopSignal }, ids);
    errors = [...unknown];
    stopSignal.throwIfAborted();
    yield known;
  });
  if (!body.dry_run) await context.tags.afterWrite(tenantName);
  return { ...counts, errors };
}

async function tagMatching(
  context: HttpContext,
  request: FastifyRequest,
  body: Static<typeof bulkTagsByFilterSchema>,
): Promise<Result> {
  const { postgres } = context.stores;
  const { tenant, window, interruption: stop } = request;
  const { tenant_name: tenantName } = tenant;
  const tags = readTagParameters({ ...body }, "body", []);
  const { client, signal } = await tenantRead(context, request);
  const copy = { postgres, tenantName, store: async () => client, signal };
  const matches = matchingDimensions(window, { ...body, tags });
  const open = () => streamDimensionIds(client, matches, { batch: TAGS_PER_ENTRY, signal });
  // The store has found all ids when the first batch arrives. Wait for it before the transaction, which would otherwise
  // hold its locks meanwhile.
  let ready: AsyncIterable<number[]> | undefined = await withFirstItem(open());
  const work = body.dry_run ? previewBulk : tagInBulk;
  const counts = await work({ postgres, tenantName, stop }, body, async function* () {
    const batches = ready ?? open();
    ready = undefined;
    for await (const ids of batches) {
      const { known, unknown, cause } = await completeCopy(copy, ids);
      signal.throwIfAborted();
      // The caller has not listed these ids and would not notice a missing one, so a filter tags all dimensions or
      // none.
      if (cause !== undefined && unknown.length > 0) throw storeUnavailable(cause);
      yield known;
    }
  });
  if (!body.dry_run) await context.tags.afterWrite(tenantName);
  return { ...counts, errors: [] };
}

/** Returns the ids in ascending order. Throws if there are too many. */
function distinctIds(listed: readonly number[]): number[] {
  const ids = [...new Set(listed)].sort((a, b) => a - b);
  if (ids.length <= MOST_DIMENSIONS) return ids;
  const detail = `\`dimension_ids\` must be a list of 1 to ${MOST_DIMENSIONS} different ids.`;
  throw invalidRequest([{ in: "body", name: "dimension_ids", detail, code: "invalid" }]);
}

/** Waits for the first item, and returns a stream of all items. */
async function withFirstItem<Item>(stream: AsyncGenerator<Item>): Promise<AsyncIterable<Item>> {
  const first = await stream.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* stream;
  })();
}
