/** Assignments of resources to identities. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import { assignedOn, readAssignments } from "../../assignments/read.js";
import { assignResources, deleteAssignment, endAssignment } from "../../assignments/write.js";
import { csvCell } from "../../common/csv-cell.js";
import { dayOf } from "../../common/days.js";
import { readsAssignments } from "../../config/allocation/identity-source.js";
import type { TenantConfig } from "../../config/config.js";
import { canBeIdentity } from "../../domain/assignment.js";
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import { readPostgres, runStatement } from "../../postgres/statement.js";
import { registerTenant } from "../../runner/sql/tenants.js";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { type HttpContext, tenantWriter } from "../context.js";
import { ApiError, type InputProblem, invalidRequest } from "../errors.js";
import {
  assignmentEndSchema,
  assignmentFilters,
  assignmentInputSchema,
  assignmentMapFilters,
  assignmentPageSchema,
  assignmentPathSchema,
  assignmentResultSchema,
  assignmentSchema,
  MOST_RESOURCES,
} from "../schemas/assignment.js";
import { envelope } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";

const ORDER = "Newest first, by assignment_id.";
const EFFECT =
  "The next run calculates the days again that it changes, among those that runs still gather (`lookback_days`).";
const problems = [
  "tenant_not_found",
  "assignment_not_found",
  ...bodyProblems,
  "store_unavailable",
  "request_timeout",
] as const;

export const assignmentRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const {
      stores: { postgres },
      clock,
    } = context;

    app.get(
      "/tenants/:tenant_name/assignments",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listAssignments",
          tags: ["Assignments"],
          summary: "Assignments",
          description: `Resources that people assigned to identities. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...assignmentFilters, ...paging }),
          response: {
            200: assignmentPageSchema(ORDER),
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name, allocation }, query, stopSignal }) => {
        requireStorable([["query", "valid_on", query.valid_on]]);
        return {
          ...envelope(await readAssignments(postgres, tenant_name, query, stopSignal), query),
          are_read: readsAssignments(allocation.identity),
        };
      },
    );

    app.get(
      "/tenants/:tenant_name/assignments/map",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "exportAssignments",
          tags: ["Assignments"],
          summary: "Assignments as a map",
          description:
            "The assignments of one day as CSV with the header `value,identity`: a `map` of `allocation.identity` with `column: resource_id` can " +
            "have it. By resource.",
          params: tenantPathSchema,
          querystring: inputOf(assignmentMapFilters),
          response: {
            200: {
              description: "The map.",
              content: {
                "text/csv": {
                  schema: Type.String({
                    description: "A row for each resource.",
                    examples: ["value,identity\r\nlkc-1a2b3c,payments\r\n"],
                  }),
                },
              },
            },
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, query: { valid_on: day = dayOf(clock()) }, stopSignal }, reply) => {
        requireStorable([["query", "valid_on", day]]);
        const statement = assignedOn(tenant_name, day);
        const rows = await readPostgres<{ resource_id: string; identity_id: string }>(
          postgres,
          statement,
          stopSignal,
        );
        const lines = rows.map(({ resource_id, identity_id }) =>
          [resource_id, identity_id].map(csvCell).join(),
        );
        reply.type("text/csv; charset=utf-8");
        reply.header("content-disposition", `attachment; filename="assignments-${tenant_name}-${day}.csv"`);
        return ["value,identity", ...lines, ""].join("\r\n");
      },
    );

    app.post(
      "/tenants/:tenant_name/assignments",
      {
        config: { scope: "assign", heavy: false, etag: false, showsTags: false },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "assignResources",
          tags: ["Assignments"],
          summary: "Assign resources to an identity",
          description:
            `Lines of these resources name the identity on the days of the assignment, by the identity source \`assigned\`. ${EFFECT} All resources are assigned, or ` +
            "none. An assignment that exists with the same identity and days stays as it is, so a request can be sent again.",
          params: tenantPathSchema,
          body: assignmentInputSchema,
          response: {
            200: assignmentResultSchema,
            ...problemResponses(
              "tenant_not_found",
              "assignments_not_read",
              "assignments_overlap",
              ...bodyProblems,
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request) => {
        const { tenant, body } = request;
        requireAssignable(tenant);
        const identity_id = body.identity_id.trim();
        const resource_ids = [...new Set(body.resource_ids)];
        requireValid({ ...body, identity_id, resource_ids });
        const { tenant_name: tenantName, tenant_id: tenantId, ecosystem } = tenant;
        await runStatement(postgres, registerTenant({ tenantName, tenantId, ecosystem }));
        const { created, items } = await assignResources(tenantWriter(context, request), {
          ...body,
          identity_id,
          valid_to: body.valid_to ?? null,
          resource_ids,
        });
        return { created_count: created, unchanged_count: items.length - created, items: [...items] };
      },
    );

    app.patch(
      "/tenants/:tenant_name/assignments/:assignment_id",
      {
        config: { scope: "assign", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "endAssignment",
          tags: ["Assignments"],
          summary: "Change the last day of an assignment",
          description: `Days after it are without the assignment. ${EFFECT}`,
          params: assignmentPathSchema,
          body: assignmentEndSchema,
          response: { 200: assignmentSchema, ...problemResponses("assignments_overlap", ...problems) },
        },
      },
      async (request) => {
        const { params, body } = request;
        requireStorable([["body", "valid_to", body.valid_to]]);
        return await endAssignment(tenantWriter(context, request), params.assignment_id, body.valid_to);
      },
    );

    app.delete(
      "/tenants/:tenant_name/assignments/:assignment_id",
      {
        config: { scope: "assign", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "deleteAssignment",
          tags: ["Assignments"],
          summary: "Delete an assignment",
          description: `All of its days are without the assignment: for one that was wrong from the beginning. ${EFFECT}`,
          params: assignmentPathSchema,
          response: {
            204: Type.Unsafe<undefined>({ description: "The assignment is gone." }),
            ...problemResponses(...problems),
          },
        },
      },
      async (request, reply) => {
        await deleteAssignment(tenantWriter(context, request), request.params.assignment_id);
        return reply.code(204).send();
      },
    );
  };

function requireAssignable({ tenant_name, allocation }: TenantConfig): void {
  if (readsAssignments(allocation.identity)) return;
  const detail = `Tenant ${tenant_name} does not read assignments: add \`assigned: resource_id\` to its allocation.identity.`;
  throw new ApiError("assignments_not_read", detail);
}

function requireValid({
  resource_ids,
  identity_id,
  valid_from,
  valid_to,
}: Static<typeof assignmentInputSchema>): void {
  const problem = (name: string, rule: string): InputProblem => ({
    in: "body",
    name,
    detail: `\`${name}\` must be ${rule}.`,
    code: "invalid",
  });
  const problems = [
    ...unstorable([
      ["body", "valid_from", valid_from],
      ["body", "valid_to", valid_to],
    ]),
    ...(resource_ids.length > MOST_RESOURCES
      ? [problem("resource_ids", `a list of 1 to ${MOST_RESOURCES} different resources`)]
      : []),
    ...(canBeIdentity(identity_id) ? [] : [problem("identity_id", "the name of somebody")]),
    ...(valid_to !== undefined && valid_to < valid_from
      ? [problem("valid_to", `${valid_from} (valid_from) or later`)]
      : []),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
}

type WrittenDay = readonly [place: "query" | "body", name: string, day: string | undefined];

function requireStorable(days: readonly WrittenDay[]): void {
  const problems = unstorable(days);
  if (problems.length > 0) throw invalidRequest(problems);
}

/** Days that the store of the bill cannot represent. */
function unstorable(days: readonly WrittenDay[]): InputProblem[] {
  return days.flatMap(([place, name, day]) =>
    day === undefined || (day >= FIRST_DAY && day <= LAST_DAY)
      ? []
      : [
          {
            in: place,
            name,
            detail: `\`${name}\` must be a day from ${FIRST_DAY} to ${LAST_DAY}.`,
            code: "invalid",
          },
        ],
  );
}
