/** Starts runs of a tenant's pipeline, and reports its state. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import { type PipelineState, readPipelineStates, runErrors } from "../../query/state/pipeline.js";
import { instantOf } from "../../query/time/instant.js";
import type { PipelineControl, TriggeredRun } from "../../runner/control.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { inputOf, tenantPathSchema } from "../schemas/parameters.js";
import { pipelineStatusSchema, runAcceptedSchema } from "../schemas/pipeline.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";

export const pipelineRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = context.stores;

    app.post(
      "/tenants/:tenant_name/pipeline/run",
      {
        config: { scope: "run", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "startPipelineRun",
          tags: ["Pipeline"],
          summary: "Start a run",
          description:
            "Gathers and calculates for the tenant, at once or as soon as fewer than `features.max_parallel_tenants` tenants run. " +
            "Upstreams are read at most once a minute, or once in `min_refresh_gap_seconds` if that is less. Needs the mode `both`.",
          params: tenantPathSchema,
          body: inputOf(
            {
              force_gather: Type.Boolean({
                description: "Gather even if the last gathering began less than a minute ago.",
                default: false,
              }),
            },
            { description: "A request without a body is treated like one with an empty object." },
          ),
          response: {
            202: runAcceptedSchema,
            ...problemResponses(
              "tenant_not_found",
              ...bodyProblems,
              "pipeline_unavailable",
              "run_in_progress",
              "tenant_suspended",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async ({ tenant: { tenant_name }, body, interruption: stop }, reply) => {
        const forceGather = body.force_gather ?? false;
        const run = await controlOf(context).trigger(tenant_name, { forceGather, stop });
        return reply.code(202).send(accepted(tenant_name, run));
      },
    );

    app.get(
      "/tenants/:tenant_name/pipeline/status",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getPipelineStatus",
          tags: ["Pipeline"],
          summary: "State of the pipeline",
          description: "Whether a run is in progress, and how the newest finished one ended.",
          params: tenantPathSchema,
          response: {
            200: pipelineStatusSchema,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant: { tenant_name }, stopSignal }) => {
        const [state] = await readPipelineStates(postgres, [tenant_name], stopSignal);
        return statusOf(tenant_name, state);
      },
    );
  };

function controlOf({ control, mode }: HttpContext): PipelineControl {
  if (control !== undefined) return control;
  const detail = `No workflow runner is available in ${mode} mode. Start the service in both mode to run the pipeline.`;
  throw new ApiError("pipeline_unavailable", detail);
}

function accepted(tenant_name: string, { run_id, queued }: TriggeredRun): Static<typeof runAcceptedSchema> {
  const state = queued ? "is queued" : "has started";
  const message = `A pipeline run of tenant ${tenant_name} ${state}.`;
  return { tenant_name, status: queued ? "queued" : "started", run_id, message };
}

function statusOf(
  tenant_name: string,
  state: PipelineState | undefined,
): Static<typeof pipelineStatusSchema> {
  const finished = state?.finished ?? null;
  return {
    tenant_name,
    is_running: state?.is_running ?? false,
    state: state?.is_queued ? "queued" : state?.is_running ? "running" : "idle",
    last_run: state?.last_run_at ? instantOf(state.last_run_at) : null,
    last_success: state?.last_success_at ? instantOf(state.last_success_at) : null,
    last_result: finished && {
      status: finished.status,
      dates_gathered: finished.dates_gathered,
      dates_calculated: finished.dates_calculated,
      chargeback_rows_written: finished.chargeback_rows_written,
      errors: runErrors(finished),
      notes: [...finished.notes],
      completed_at: instantOf(new Date(finished.completed_at)),
    },
  };
}
