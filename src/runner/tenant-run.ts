import { randomUUID } from "node:crypto";
import type { TenantConfig } from "../config/config.js";
import { RunInProgressError, TenantSuspendedError } from "./control.js";
import { acquireLease } from "./lease.js";
import type { RunRequest, TenantRunContext } from "./run-context.js";
import { beginRun, failOrphanedRuns, type RunResult } from "./sql/runs.js";
import { registerTenant, type TenantState, tenantState } from "./sql/tenants.js";
import { superviseRun } from "./supervise-run.js";

export { type AllocationLimits, type RunRequest, type TenantRunContext, usualLimits } from "./run-context.js";

/**
 * One run of one tenant: claim, gather, calculate, check, publish, record. Whoever triggers it, the schedule, the API or a
 * command, gets the same run.
 */

/** A run that was begun: it has a record, and ends by itself. */
export interface StartedRun {
  readonly run_id: string;
  readonly done: Promise<RunResult>;
}

/** Claims the tenant and begins a run. Throws when one is in progress, or the tenant is suspended. */
export async function startTenantRun(
  context: TenantRunContext,
  tenant: TenantConfig,
  request: RunRequest,
): Promise<StartedRun> {
  const { postgres } = context.stores;
  const tenantName = tenant.tenant_name;
  await postgres.query(
    registerTenant({ tenantName, tenantId: tenant.tenant_id, ecosystem: tenant.ecosystem }),
  );
  const state = (await postgres.query<TenantState>(tenantState(tenantName))).rows[0];
  if (state?.suspension_reason) throw new TenantSuspendedError(tenantName, state.suspension_reason);
  const lease = await acquireLease(postgres, tenantName, context.holder, context.leaseTiming);
  if (lease === undefined) throw new RunInProgressError(tenantName);
  const runId = randomUUID();
  try {
    await postgres.query(failOrphanedRuns({ tenantName, epoch: lease.epoch }));
    await postgres.query(beginRun({ runId, tenantName, trigger: request.trigger, epoch: lease.epoch }));
  } catch (error) {
    await lease.release().catch(() => undefined);
    throw error;
  }
  return { run_id: runId, done: superviseRun({ ...context, tenant, request, runId }, lease) };
}
