/** Causes of allocation issues that people accept until a day. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import {
  type AcceptedCause,
  acceptCause,
  readAcceptedCauses,
  takeBackCause,
} from "../../assignments/accepted-causes.js";
import { addDays, dayOf } from "../../common/days.js";
import { MOST_ACCEPTED_CAUSES } from "../../domain/issue-cause.js";
import { runStatement } from "../../postgres/statement.js";
import { registerTenant } from "../../runner/sql/tenants.js";
import { type HttpContext, tenantWriter } from "../context.js";
import { invalidRequest } from "../errors.js";
import {
  acceptedCauseInputSchema,
  acceptedCausePathSchema,
  acceptedCauseSchema,
  MOST_ACCEPTED_DAYS,
} from "../schemas/accepted-cause.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";

export const acceptedCauseRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const {
      stores: { postgres },
      clock,
    } = context;
    const shown = (cause: AcceptedCause) => ({
      ...cause,
      is_current: cause.accepted_until >= dayOf(clock()),
    });

    app.get(
      "/tenants/:tenant_name/accepted-causes",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listAcceptedCauses",
          tags: ["Assignments"],
          summary: "Accepted causes",
          description:
            "Causes of allocation issues that people accept until a day, also those whose day has passed. The latest decision comes first. " +
            "They change nothing about who pays, and no other read leaves them out by itself: `not:cause` of the allocation issues, of the worklist and of a breakdown does.",
          params: tenantPathSchema,
          response: {
            200: Type.Array(acceptedCauseSchema, {
              maxItems: MOST_ACCEPTED_CAUSES,
              description: "All of them, the latest decision first.",
            }),
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, stopSignal }) =>
        (await readAcceptedCauses(postgres, tenant_name, stopSignal)).map(shown),
    );

    app.post(
      "/tenants/:tenant_name/accepted-causes",
      {
        config: { scope: "assign", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "acceptCause",
          tags: ["Assignments"],
          summary: "Accept a cause",
          description:
            "Accepts a cause of allocation issues until a day. A cause that is accepted already gets the new day, reason and author. A request " +
            `can be sent again. A tenant can have ${MOST_ACCEPTED_CAUSES} of them.`,
          params: tenantPathSchema,
          body: acceptedCauseInputSchema,
          response: {
            200: acceptedCauseSchema,
            ...problemResponses(
              "tenant_not_found",
              "too_many_accepted_causes",
              ...bodyProblems,
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request) => {
        const { tenant, body } = request;
        const first = dayOf(clock());
        const last = addDays(first, MOST_ACCEPTED_DAYS);
        if (body.accepted_until < first || body.accepted_until > last) {
          const detail = `\`accepted_until\` must be a day from today (${first}, UTC) to ${last}.`;
          throw invalidRequest([{ in: "body", name: "accepted_until", detail, code: "invalid" }]);
        }
        const { tenant_name: tenantName, tenant_id: tenantId, ecosystem } = tenant;
        await runStatement(postgres, registerTenant({ tenantName, tenantId, ecosystem }));
        return shown(await acceptCause(tenantWriter(context, request), body));
      },
    );

    app.delete(
      "/tenants/:tenant_name/accepted-causes/:accepted_cause_id",
      {
        config: { scope: "assign", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "takeBackCause",
          tags: ["Assignments"],
          summary: "Take an accepted cause back",
          description: "The cause needs attention again.",
          params: acceptedCausePathSchema,
          response: {
            204: Type.Unsafe<undefined>({ description: "The cause is not accepted any more." }),
            ...problemResponses(
              "tenant_not_found",
              "accepted_cause_not_found",
              ...bodyProblems,
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request, reply) => {
        await takeBackCause(tenantWriter(context, request), request.params.accepted_cause_id);
        return reply.code(204).send();
      },
    );
  };
