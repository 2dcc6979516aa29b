/** The pipeline of a tenant: start a run, see how it does. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readPipelineStates, runErrors } from "../../query/pipeline-state.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { inputOf, TenantPath } from "../schemas/parameters.js";
import { PipelineStatus, RunAccepted } from "../schemas/pipeline.js";
import { problemResponses } from "../schemas/problem.js";

export const pipelineRoutes =
  ({ control, stores, mode }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      "/tenants/:tenant_name/pipeline/run",
      {
        schema: {
          operationId: "startPipelineRun",
          tags: ["Pipeline"],
          summary: "Start a run",
          description: "Starts gathering and calculating for the tenant, at once. Needs the mode `both`.",
          params: TenantPath,
          body: inputOf({}, { description: "Nothing is taken: no body, or an empty object." }),
          response: {
            202: RunAccepted,
            ...problemResponses(
              "tenant_not_found",
              "malformed_body",
              "body_too_large",
              "pipeline_unavailable",
              "run_in_progress",
              "tenant_suspended",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant }, reply) => {
        if (control === undefined) {
          const detail = `No workflow runner is available in ${mode} mode. Start the service in both mode to run the pipeline.`;
          throw new ApiError("pipeline_unavailable", detail);
        }
        const { tenant_name } = tenant;
        const { run_id } = await control.trigger(tenant_name);
        const message = `A pipeline run of tenant ${tenant_name} has started.`;
        return reply.code(202).send({ tenant_name, status: "started", run_id, message });
      },
    );

    app.get(
      "/tenants/:tenant_name/pipeline/status",
      {
        schema: {
          operationId: "getPipelineStatus",
          tags: ["Pipeline"],
          summary: "State of the pipeline",
          description: "Whether a run is under way, and how the newest finished one ended.",
          params: TenantPath,
          response: {
            200: PipelineStatus,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, stopSignal }) => {
        const [state] = await readPipelineStates(stores.postgres, [tenant_name], stopSignal);
        const finished = state?.finished ?? null;
        return {
          tenant_name,
          is_running: state?.is_running ?? false,
          last_run: state?.last_run_at?.toISOString() ?? null,
          last_result: finished && {
            dates_gathered: finished.dates_gathered,
            dates_calculated: finished.dates_calculated,
            chargeback_rows_written: finished.chargeback_rows_written,
            errors: runErrors(finished),
            completed_at: new Date(finished.completed_at).toISOString(),
          },
        };
      },
    );
  };
