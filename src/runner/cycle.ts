import pLimit from "p-limit";
import type { TenantConfig } from "../config/config.js";
import { runStatement } from "../postgres/statement.js";
import { RunInProgressError, TenantSuspendedError } from "./control.js";
import type { RunResult } from "./sql/runs.js";
import { suspendedTenants } from "./sql/tenants.js";
import { type RunRequest, type StartedRun, startTenantRun, type TenantRunContext } from "./tenant-run.js";

/** Runs tenants with a limit on parallel runs. Failures of one tenant do not affect the others. */
export interface CycleRunner {
  /** Runs the tenants and returns their results, undefined where no run took place. */
  run(tenants: readonly TenantConfig[], request: RunRequest): Promise<Map<string, RunResult | undefined>>;
  /** Runs a tenant that is due, unless another process has started it. Returns whether a run took place. */
  runDue(tenant: TenantConfig, request: RunRequest): Promise<boolean>;
  /** Number of runs that can start now without waiting. */
  free(): number;
  /** Starts a run of one tenant in the same queue. Throws the errors of `startTenantRun`. */
  start(tenant: TenantConfig, request: RunRequest): Promise<StartedRun & { readonly queued: boolean }>;
}

/** The limit on parallel tenants is shared by overlapping cycles and triggered runs. */
export function createCycleRunner(context: TenantRunContext, maxParallelTenants: number): CycleRunner {
  const limit = pLimit(maxParallelTenants);
  /** Tenants that are queued or running. A tenant that still waits in an earlier cycle is not queued twice. */
  const underWay = new Set<string>();
  const runUnlessUnderWay = async (tenant: TenantConfig, request: RunRequest) => {
    const { tenant_name: tenantName } = tenant;
    if (underWay.has(tenantName)) return void noteSkipped(context, tenantName);
    underWay.add(tenantName);
    try {
      return await limit(() => runOne(context, tenant, request, () => noteSkipped(context, tenantName)));
    } finally {
      underWay.delete(tenantName);
    }
  };
  return {
    free: () => maxParallelTenants - limit.activeCount - limit.pendingCount,
    async runDue(tenant, request) {
      return (await limit(() => runOne(context, tenant, request, () => undefined))) !== undefined;
    },
    async start(tenant, request) {
      const queued = limit.activeCount + limit.pendingCount >= maxParallelTenants;
      return { ...(await startTenantRun(context, tenant, request, limit)), queued };
    },
    async run(tenants, request) {
      const results = await Promise.all(
        tenants.map(
          async (tenant) => [tenant.tenant_name, await runUnlessUnderWay(tenant, request)] as const,
        ),
      );
      await warnWhenAllSuspended(context, tenants);
      return new Map(results);
    },
  };
}

async function runOne(
  context: TenantRunContext,
  tenant: TenantConfig,
  request: RunRequest,
  onInProgress: () => void,
): Promise<RunResult | undefined> {
  if (request.signal.aborted) return undefined;
  const { tenant_name: tenantName } = tenant;
  try {
    const started = await startTenantRun(context, tenant, request);
    return await started.done;
  } catch (error) {
    if (error instanceof RunInProgressError) {
      onInProgress();
    } else if (!(error instanceof TenantSuspendedError)) {
      context.logger.error(
        { err: error, tenant: tenantName },
        `Tenant ${tenantName}: the run could not start`,
      );
    }
    return undefined;
  }
}

function noteSkipped(context: TenantRunContext, tenantName: string): void {
  context.observer.skipped(tenantName);
  context.logger.warn({ tenant: tenantName }, `Tenant ${tenantName}: run skipped, already in progress`);
}

async function warnWhenAllSuspended(
  context: TenantRunContext,
  tenants: readonly TenantConfig[],
): Promise<void> {
  if (tenants.length === 0) return;
  const names = tenants.map((tenant) => tenant.tenant_name);
  const suspended = await runStatement(context.stores.postgres, suspendedTenants(names));
  if (suspended.rowCount !== tenants.length) return;
  context.logger.fatal(`ALERT: All ${tenants.length} tenant(s) have been permanently suspended`);
}
