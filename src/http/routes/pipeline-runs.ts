/** The history of a tenant's pipeline runs. Runs are kept as long as the tenant's data. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { readPipelineRun, readPipelineRuns } from "../../query/state/pipeline-runs.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { cursorParameter, envelope, pageSchema } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { pipelineRunSchema } from "../schemas/pipeline.js";
import { problemResponses } from "../schemas/problem.js";

const RunPath = Type.Composite([
  tenantPathSchema,
  Type.Object({
    run_id: Type.String({
      description: "Id of the run, as the trigger and the history return it.",
      maxLength: 64,
      examples: ["0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10"],
    }),
  }),
]);

const runNotFound = (tenantName: string) =>
  new ApiError("run_not_found", `Tenant ${tenantName} has no such run. GET …/pipeline/runs lists its runs.`);

const ORDER = "Newest first, by start and then id.";

export const pipelineRunRoutes =
  ({ stores }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/pipeline/runs",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listPipelineRuns",
          tags: ["Pipeline"],
          summary: "Runs of the pipeline",
          description: `Every run within the tenant's retention, in progress or finished, for every trigger. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({ ...paging, ...cursorParameter }),
          response: {
            200: pageSchema(pipelineRunSchema, ORDER),
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, query, stopSignal }) =>
        envelope(await readPipelineRuns(stores.postgres, tenant_name, query, stopSignal), query),
    );

    app.get(
      "/tenants/:tenant_name/pipeline/runs/:run_id",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getPipelineRun",
          tags: ["Pipeline"],
          summary: "A run of the pipeline",
          description: "One run. Poll it while its status is `queued` or `running`.",
          params: RunPath,
          response: {
            200: pipelineRunSchema,
            ...problemResponses("tenant_not_found", "run_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, params: { run_id }, stopSignal }) => {
        const run = await readPipelineRun(stores.postgres, tenant_name, run_id, stopSignal);
        if (run === undefined) throw runNotFound(tenant_name);
        return run;
      },
    );
  };
