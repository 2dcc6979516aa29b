/** Reports at `/api/v1/readiness` which tenants the service can serve. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "@sinclair/typebox";
import { type PipelineState, readPipelineStates } from "../../query/state/pipeline.js";
import { instantOf } from "../../query/time/instant.js";
import { mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { choiceSchema } from "../schemas/fields.js";
import { inputOf } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { readinessSchema } from "../schemas/readiness.js";
import type { StoreDrift } from "../store-drift.js";
import { CACHE_MS, type ChangeLog, createChangeLog, PROBE_MS } from "../store-probes.js";

const Query = inputOf({
  strict: choiceSchema(["false", "true", "all"], {
    description:
      "`true`: 503 with the same body unless the status is `ready` or `no_data`; for load balancers, since one tenant's dead store does not " +
      "drain the instance. `all`: 503 also unless every tenant can be served with all of its days; for deployments and alerts.",
    default: "false",
  }),
});

export const readinessRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readiness = readinessReader(context);
    app.get(
      "/readiness",
      {
        config: { scope: "read", publicAs: "readiness", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getReadiness",
          tags: ["Health"],
          summary: "Readiness",
          description:
            "State of the store and the pipeline of each tenant that the caller may see. Computed at most every 2 seconds.",
          querystring: Query,
          response: {
            200: readinessSchema,
            ...problemResponses("request_timeout"),
            503: {
              description:
                "With `strict`: nothing, or not everything, can be served. The same object as with 200.",
              content: {
                "application/json": {
                  schema: readinessSchema,
                  example: { status: "initializing", version: "0.1.0", mode: "api", tenants: [] },
                },
              },
            },
          },
        },
      },
      async ({ query, caller }, reply) => {
        const response = await readiness();
        const { strict = "false" } = query;
        const isOk = strict === "false" || isReady(response, strict === "all" ? "all" : "some");
        const tenants = response.tenants.filter(({ tenant_name }) =>
          mayForTenant(caller, "read", tenant_name),
        );
        return reply.code(isOk ? 200 : 503).send({ ...response, tenants });
      },
    );
  };

type ReadinessResponse = Static<typeof readinessSchema>;
type TenantReadiness = ReadinessResponse["tenants"][number];

/**
 * Reads the readiness of the service and of each tenant. Nothing throws: the response reports a store that is down. It
 * is cached for 2 seconds. Requests that arrive while it is computed share it.
 */
function readinessReader(context: HttpContext): () => Promise<ReadinessResponse> {
  const change = createChangeLog(context.logger);
  let cached: { at: number; response: Promise<ReadinessResponse> } | undefined;
  return () => {
    const now = context.clock().getTime();
    if (cached === undefined || Math.abs(now - cached.at) >= CACHE_MS)
      cached = { at: now, response: computeReadiness(context, change) };
    return cached.response;
  };
}

async function computeReadiness(context: HttpContext, change: ChangeLog): Promise<ReadinessResponse> {
  const names = [...context.config.tenants.keys()];
  const [states, drifts] = await Promise.all([
    pipelineStates(context, names, change),
    Promise.all(names.map((name) => context.drift.check(name))),
  ]);
  const tenants = names.map((name, index) => tenantReadiness(name, states?.get(name), drifts[index]));
  return { status: overall(tenants), version: context.version, mode: context.mode, tenants };
}

/**
 * The instance is ready while it can serve at least one tenant: other tenants do not depend on a tenant's dead store.
 */
function overall(tenants: readonly TenantReadiness[]): ReadinessResponse["status"] {
  const served = tenants.filter(isServed);
  if (tenants.length > 0 && served.length === 0) return "initializing";
  if (tenants.length > 0 && tenants.every((tenant) => tenant.permanent_failure !== null)) return "error";
  return served.some((tenant) => tenant.has_data) ? "ready" : "no_data";
}

function isServed({ tables_ready, store_state }: TenantReadiness): boolean {
  return tables_ready && store_state === "known";
}

/** `some`: the instance can serve at least one tenant. `all`: it can serve every tenant, with all of its days. */
function isReady({ status, tenants }: ReadinessResponse, required: "some" | "all"): boolean {
  const isComplete = tenants.every((tenant) => isServed(tenant) && tenant.days_lost === 0);
  return (status === "ready" || status === "no_data") && (required === "some" || isComplete);
}

function tenantReadiness(
  name: string,
  state: PipelineState | undefined,
  drift: StoreDrift | undefined,
): TenantReadiness {
  return {
    tenant_name: name,
    tables_ready: state !== undefined && drift !== undefined,
    store_state: drift?.store ?? null,
    has_data: (state?.has_data ?? false) && (drift === undefined || drift.store === "known"),
    days_lost: (state?.days_lost ?? 0) + (drift?.lostDays.size ?? 0),
    pipeline_running: state?.is_running ?? false,
    pipeline_stage: state?.stage ?? null,
    pipeline_current_date: state?.stage_date ?? null,
    last_run_status: state?.last_run_status ?? null,
    last_run_at: state?.last_run_at ? instantOf(state.last_run_at) : null,
    permanent_failure: state?.suspension_reason ?? null,
  };
}

/** Undefined if Postgres does not respond. */
async function pipelineStates({ stores }: HttpContext, names: string[], change: ChangeLog) {
  try {
    const states = await readPipelineStates(stores.postgres, names, AbortSignal.timeout(PROBE_MS));
    change.good("Postgres", {}, "readiness: Postgres responds again");
    return new Map(states.map((state) => [state.tenant_name, state]));
  } catch (error) {
    change.bad("Postgres", { err: error }, "readiness: Postgres does not respond");
    return undefined;
  }
}
