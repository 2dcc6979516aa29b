/** Whether the service has anything to serve, tenant by tenant. Never throws: a store that is down is part of the answer. */
import type { Static } from "@sinclair/typebox";
import { readRows } from "../query/clickhouse-read.js";
import { type PipelineState, readPipelineStates } from "../query/pipeline-state.js";
import type { HttpContext } from "./context.js";
import type { Readiness } from "./schemas/readiness.js";

export type ReadinessAnswer = Static<typeof Readiness>;
type TenantReadiness = ReadinessAnswer["tenants"][number];

const CACHE_MS = 2000;
/** A store that takes longer counts as not ready: the others' answers do not wait for it. */
const PROBE_MS = 1500;

/** Answers from the last 2 seconds; requests that come while one is computed share it. */
export function readinessReader(context: HttpContext): () => Promise<ReadinessAnswer> {
  let cached: { at: number; answer: Promise<ReadinessAnswer> } | undefined;
  return () => {
    const now = performance.now();
    if (cached === undefined || now - cached.at >= CACHE_MS)
      cached = { at: now, answer: computeReadiness(context) };
    return cached.answer;
  };
}

async function computeReadiness(context: HttpContext): Promise<ReadinessAnswer> {
  const names = [...context.config.tenants.keys()];
  const [states, ready] = await Promise.all([
    pipelineStates(context, names),
    Promise.all(names.map((name) => hasTables(context, name))),
  ]);
  const tenants = names.map((name, index) => tenantReadiness(name, states?.get(name), ready[index] === true));
  return { status: overall(tenants), version: context.version, mode: context.mode, tenants };
}

function overall(tenants: readonly TenantReadiness[]): ReadinessAnswer["status"] {
  if (tenants.some((tenant) => !tenant.tables_ready)) return "initializing";
  if (tenants.length > 0 && tenants.every((tenant) => tenant.permanent_failure !== null)) return "error";
  return tenants.some((tenant) => tenant.has_data) ? "ready" : "no_data";
}

function tenantReadiness(
  name: string,
  state: PipelineState | undefined,
  hasTables: boolean,
): TenantReadiness {
  return {
    tenant_name: name,
    tables_ready: state !== undefined && hasTables,
    has_data: state?.has_data ?? false,
    pipeline_running: state?.is_running ?? false,
    pipeline_stage: state?.stage ?? null,
    pipeline_current_date: state?.stage_date ?? null,
    last_run_status: state?.last_run_status ?? null,
    last_run_at: state?.last_run_at?.toISOString() ?? null,
    permanent_failure: state?.suspension_reason ?? null,
  };
}

/** Undefined when Postgres does not answer. */
async function pipelineStates({ stores, logger }: HttpContext, names: string[]) {
  try {
    const states = await readPipelineStates(stores.postgres, names, AbortSignal.timeout(PROBE_MS));
    return new Map(states.map((state) => [state.tenant_name, state]));
  } catch (error) {
    logger.warn({ err: error }, "readiness: Postgres does not answer");
    return undefined;
  }
}

async function hasTables({ stores, logger }: HttpContext, tenantName: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  const probe = async () => {
    const { client } = await stores.tenant(tenantName);
    await readRows(client, { query: "SELECT 1 FROM chargebacks LIMIT 0", params: {} }, signal);
    return true;
  };
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([probe(), late]);
  } catch (error) {
    logger.warn({ err: error, tenant: tenantName }, "readiness: a tenant's store does not answer");
    return false;
  }
}
