/** One chargeback dimension and its tags. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import type { TenantConfig } from "../../config/config.js";
import { readPostgres } from "../../postgres/statement.js";
import type { NewestRow } from "../../query/chargebacks/dimension-row.js";
import { type IdentityNames, type ResourceNames, readNamesOfInventory } from "../../query/inventory/names.js";
import { tagPair } from "../../query/tags/tag-sql.js";
import type { Dimension as DimensionFields } from "../../tags/dimensions.js";
import { type TagRecord as Tag, tagsOfDimension } from "../../tags/tag-record.js";
import { addTag, changeTags } from "../../tags/write.js";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import type { HttpContext } from "../context.js";
import { findDimension } from "../find-dimension.js";
import { createNewestRows } from "../newest-rows.js";
import { stateOfAllDays } from "../plugins/response-cache.js";
import { dimensionSchema } from "../schemas/dimension.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import { dimensionPathSchema, tagChangesSchema, tagInputSchema, tagRecordSchema } from "../schemas/tag.js";

const readProblems = [
  "tenant_not_found",
  "dimension_not_found",
  "store_unavailable",
  "request_timeout",
] as const;
const writeProblems = [...readProblems, ...bodyProblems, "tag_key_exists"] as const;
/**
 * Time limit of the read of the newest row after a change: the change is already committed and should be reported soon.
 */
const NEWEST_ROW_TIMEOUT_MS = 5_000;

const path = "/tenants/:tenant_name/chargebacks/:dimension_id";

export const dimensionRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readNewest = createNewestRows(context);
    app.get(
      path,
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getDimension",
          tags: ["Chargebacks"],
          summary: "One chargeback dimension",
          description: "Its fields, its labels in full, and its newest row.",
          params: dimensionPathSchema,
          response: { 200: dimensionSchema, ...problemResponses(...readProblems) },
        },
      },
      async (request) => {
        const { stopSignal: signal, params } = request;
        const [dimension, tags, state] = await Promise.all([
          findDimension(context, request, params.dimension_id),
          readTags(context, request, params.dimension_id),
          stateOfAllDays(context, request),
        ]);
        const [newest, names] = await Promise.all([
          readNewest({ request, dimension, state, signal }),
          readNames(context, request, dimension, signal),
        ]);
        return responseOf(dimension, newest, tags, names);
      },
    );

    app.patch(
      path,
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "changeDimensionTags",
          tags: ["Tags"],
          summary: "Change the labels of a dimension",
          description:
            "Replaces labels (`tags`), then removes (`remove_tag_ids`), then adds (`add_tags`); all or nothing. Returns the dimension. While " +
            "the tenant's store is down, the labels are still changed, and the fields of the newest row are null.",
          params: dimensionPathSchema,
          body: tagChangesSchema,
          response: { 200: dimensionSchema, ...problemResponses(...writeProblems, "tag_not_found") },
        },
      },
      async (request) => {
        const dimension = await findDimension(context, request, request.params.dimension_id);
        const tags = await changeTags(target(context, request, dimension), request.body);
        await context.tags.afterWrite(request.tenant.tenant_name);
        const shortly = AbortSignal.any([request.stopSignal, AbortSignal.timeout(NEWEST_ROW_TIMEOUT_MS)]);
        const [newest, names] = await Promise.all([
          readNewest({ request, dimension, state: undefined, signal: shortly }).catch(() => undefined),
          readNames(context, request, dimension, shortly).catch(() => unknownNames),
        ]);
        return responseOf(dimension, newest, tags, names);
      },
    );

    app.get(
      `${path}/tags`,
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listDimensionTags",
          tags: ["Tags"],
          summary: "Labels of a dimension",
          description: "All labels, by tag_id.",
          params: dimensionPathSchema,
          response: {
            200: Type.Array(tagRecordSchema, { description: "The labels." }),
            ...problemResponses(...readProblems),
          },
        },
      },
      async (request) => {
        const { dimension_id } = await findDimension(context, request, request.params.dimension_id);
        return readTags(context, request, dimension_id);
      },
    );

    app.post(
      `${path}/tags`,
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "addDimensionTag",
          tags: ["Tags"],
          summary: "Add a label to a dimension",
          description:
            "Also works while the tenant's store is down: the label is visible once the store is back.",
          params: dimensionPathSchema,
          body: tagInputSchema,
          response: { 201: tagRecordSchema, ...problemResponses(...writeProblems) },
        },
      },
      async (request, reply) => {
        const dimension = await findDimension(context, request, request.params.dimension_id);
        const tag = await addTag(target(context, request, dimension), request.body);
        await context.tags.afterWrite(request.tenant.tenant_name);
        return reply.code(201).header("location", pathOfTag(request.tenant, tag)).send(tag);
      },
    );
  };

function target({ stores }: HttpContext, request: FastifyRequest, { dimension_id }: DimensionFields) {
  const { tenant, interruption: stop } = request;
  const { tenant_name: tenantName } = tenant;
  return { postgres: stores.postgres, tenantName, dimensionId: dimension_id, stop };
}

function pathOfTag({ tenant_name }: TenantConfig, { tag_id }: Tag): string {
  return `/api/v1/tenants/${encodeURIComponent(tenant_name)}/tags/${tag_id}`;
}

/** The names in the response to a change, if Postgres fails after the commit. */
const unknownNames = {
  identity_name: null,
  identity_type: null,
  team: null,
  resource_name: null,
  resource_type: null,
};

/** Reads names from the inventory: the response has no ETag, so it may have them before the store has its copy. */
async function readNames(
  { stores }: HttpContext,
  { tenant }: FastifyRequest,
  dimension: DimensionFields,
  signal: AbortSignal,
): Promise<IdentityNames & ResourceNames> {
  const inventory = { postgres: stores.postgres, tenantName: tenant.tenant_name };
  const names = await readNamesOfInventory(inventory, [dimension], signal);
  return { ...names.identity(dimension.identity_id), ...names.resource(dimension.resource_id) };
}

function readTags({ stores }: HttpContext, request: FastifyRequest, dimensionId: number) {
  const read = tagsOfDimension(request.tenant.tenant_name, dimensionId);
  return readPostgres<Tag>(stores.postgres, read, request.stopSignal);
}

/** The fields of the newest row, for a dimension without rows. */
const noRow = {
  timestamp: null,
  amount: null,
  currency: null,
  allocation_method: null,
  allocation_detail: null,
  passed_from: null,
  provisional: null,
  charge_category: null,
  service_provider: null,
  account_id: null,
  region_id: null,
  sku_id: null,
  line_tags: null,
  rule: null,
  metadata: null,
} satisfies Readonly<Record<keyof NewestRow, null>>;

function responseOf(
  dimension: DimensionFields,
  newest: NewestRow | undefined,
  tags: Tag[],
  names: (IdentityNames & ResourceNames) | typeof unknownNames,
) {
  return {
    ...dimension,
    ...(newest ?? noRow),
    tags,
    tag_pairs: tags.map(tagPair),
    ...names,
  };
}
