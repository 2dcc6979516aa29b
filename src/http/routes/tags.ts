/** Lists the tags of a tenant, and reads, renames and deletes single tags. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import type { Pool } from "pg";
import { readPostgres } from "../../postgres/statement.js";
import { cursorFingerprint, cursorOf, encodeCursor } from "../../query/page/cursor.js";
import { readTagKeys } from "../../query/tags/keys.js";
import { type SearchTotal, searchPage, searchTotal } from "../../tags/search.js";
import { TagNotFoundError } from "../../tags/tag-errors.js";
import { type TagRecord as Tag, type TagInContext, tagsById, tagsInContext } from "../../tags/tag-record.js";
import { deleteTag, renameTag } from "../../tags/write.js";
import { type HttpContext, tenantRead, tenantWriter } from "../context.js";
import { cursorParameter, envelope, pageSchema } from "../schemas/page.js";
import { dateRange, inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import {
  tagInContextSchema,
  tagKeysSchema,
  tagPathSchema,
  tagRecordSchema,
  tagRenameSchema,
  tagSearch,
} from "../schemas/tag.js";

interface TagParams {
  readonly params: Static<typeof tagPathSchema>;
}

const ORDER = "By tag_id.";
/** The kind of cursors. */
const KIND = "tags";
const problems = ["tenant_not_found", "tag_not_found", "store_unavailable", "request_timeout"] as const;

/** The tag that a request changes. */
const target = (
  context: HttpContext,
  request: Pick<FastifyRequest, "tenant" | "interruption"> & TagParams,
) => ({ ...tenantWriter(context, request), tagId: request.params.tag_id });

export const tagRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = context.stores;

    app.get(
      "/tenants/:tenant_name/tags",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listTags",
          tags: ["Tags"],
          summary: "Labels of all dimensions",
          description: `Each label with fields of its dimension. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...paging, ...cursorParameter, ...tagSearch }),
          response: {
            200: pageSchema(tagInContextSchema, ORDER),
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, query, stopSignal }) =>
        envelope(await readTagPage(postgres, tenant.tenant_name, query, stopSignal), query),
    );

    app.get(
      "/tenants/:tenant_name/tag-keys",
      {
        config: { scope: "read", heavy: true, etag: false, showsTags: false },
        schema: {
          operationId: "listTagKeys",
          tags: ["Tags"],
          summary: "Label keys",
          description: "Keys of labels that amounts can be grouped and filtered by.",
          params: tenantPathSchema,
          querystring: inputOf({ ...dateRange }),
          response: {
            200: tagKeysSchema,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { tenant, window } = request;
        return readTagKeys({ postgres, client }, { tenantName: tenant.tenant_name, window }, signal);
      },
    );

    app.get(
      "/tenants/:tenant_name/tags/:tag_id",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getTag",
          tags: ["Tags"],
          summary: "One label",
          description: "`Location` of a new label has this path.",
          params: tagPathSchema,
          response: { 200: tagRecordSchema, ...problemResponses(...problems) },
        },
      },
      async ({ tenant, params: { tag_id }, stopSignal }) => {
        const [tag] = await readPostgres<Tag>(postgres, tagsById(tenant.tenant_name, [tag_id]), stopSignal);
        if (tag === undefined) throw new TagNotFoundError(tag_id);
        return tag;
      },
    );

    app.patch(
      "/tenants/:tenant_name/tags/:tag_id",
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "renameTag",
          tags: ["Tags"],
          summary: "Rename a label",
          description: "Changes the display name; id, key, value, author and time stay the same.",
          params: tagPathSchema,
          body: tagRenameSchema,
          response: { 200: tagRecordSchema, ...problemResponses(...problems, ...bodyProblems) },
        },
      },
      async (request) => {
        const tag = await renameTag(target(context, request), request.body.display_name);
        await context.tags.afterWrite(request.tenant.tenant_name);
        return tag;
      },
    );

    app.delete(
      "/tenants/:tenant_name/tags/:tag_id",
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "deleteTag",
          tags: ["Tags"],
          summary: "Delete a label",
          description: "Its id is never reused.",
          params: tagPathSchema,
          response: {
            204: Type.Unsafe<undefined>({ description: "The label is gone." }),
            ...problemResponses(...problems, ...bodyProblems),
          },
        },
      },
      async (request, reply) => {
        await deleteTag(target(context, request));
        await context.tags.afterWrite(request.tenant.tenant_name);
        return reply.code(204).send();
      },
    );
  };

interface TagPageRequest {
  readonly page: number;
  readonly page_size: number;
  readonly cursor?: string | undefined;
  readonly search?: string | undefined;
}

/** Reads a page by number or by cursor: first the total, then the ids of the page, then their records. */
async function readTagPage(
  postgres: Pool,
  tenantName: string,
  { page, page_size, cursor, search = "" }: TagPageRequest,
  signal: AbortSignal,
): Promise<{ items: TagInContext[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ tenantName, search });
  const [after] = cursorOf({ cursor, page }, KIND, fingerprint, ["integer"]) ?? [];
  const tagSearch = { tenantName, search };
  const [sum] = await readPostgres<SearchTotal>(postgres, searchTotal(tagSearch), signal);
  const offset = (page - 1) * page_size;
  if (sum === undefined || offset >= sum.total)
    return { items: [], total: sum?.total ?? 0, next_cursor: null };
  // Read one id more than the page has, to see whether there is a next page.
  const position = { after: Number(after ?? -1), offset, limit: page_size + 1 };
  const ids = await readPostgres<{ tag_id: number }>(postgres, searchPage(tagSearch, sum, position), signal);
  const shown = ids.slice(0, page_size).map(({ tag_id }) => tag_id);
  const items = await readPostgres<TagInContext>(postgres, tagsInContext(tenantName, shown), signal);
  const last = ids.length > page_size ? shown.at(-1) : undefined;
  return {
    items,
    total: sum.total,
    next_cursor: last === undefined ? null : encodeCursor(KIND, fingerprint, [last]),
  };
}
