import { randomUUID } from "node:crypto";
import type { TenantConfig } from "../config/config.js";
import { runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import { RunInProgressError, TenantSuspendedError } from "./control.js";
import { acquireLease } from "./lease.js";
import type { RunRequest, TenantRunContext } from "./run-context.js";
import { beginRun, failOrphanedRuns, type RunResult, startQueuedRun } from "./sql/runs.js";
import { registerTenant, type TenantState, tenantState } from "./sql/tenants.js";
import { superviseRun } from "./supervise-run.js";
import { recordUnrecordedResult } from "./unrecorded-results.js";

export { type AllocationLimits, type RunRequest, type TenantRunContext, usualLimits } from "./run-context.js";

/**
 * One run of one tenant: claim, gather, calculate, check, publish, record. The schedule, the API and the commands all
 * start the same run.
 */

/** A started run: it has a record and ends by itself. */
export interface StartedRun {
  readonly run_id: string;
  readonly done: Promise<RunResult>;
}

/** A queue of runs: calls the work when there is a free slot. */
export type RunLine = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Claims the tenant and starts a run, which waits in the queue if there is one. Throws if a run is in progress or the
 * tenant is suspended.
 */
export async function startTenantRun(
  context: TenantRunContext,
  tenant: TenantConfig,
  request: RunRequest,
  line?: RunLine,
): Promise<StartedRun> {
  const { postgres } = context.stores;
  const tenantName = tenant.tenant_name;
  const signal = request.beginning?.signal;
  await runStatement(
    postgres,
    registerTenant({ tenantName, tenantId: tenant.tenant_id, ecosystem: tenant.ecosystem }),
  );
  await recordUnrecordedResult(postgres, tenantName);
  signal?.throwIfAborted();
  const state = (await runStatement<TenantState>(postgres, tenantState(tenantName))).rows[0];
  signal?.throwIfAborted();
  if (state?.suspension_reason) throw new TenantSuspendedError(tenantName, state.suspension_reason);
  const hasAssignments = state?.has_assignments ?? false;
  const lease = await acquireLease(postgres, tenantName, context.holder, context.leaseTiming);
  if (lease === undefined) throw new RunInProgressError(tenantName);
  const runId = randomUUID();
  try {
    await runStatement(postgres, failOrphanedRuns({ tenantName, epoch: lease.epoch }));
    const status = line === undefined ? "running" : "queued";
    request.beginning?.beforeCommit();
    const begin = beginRun({ runId, tenantName, trigger: request.trigger, epoch: lease.epoch, status });
    await withTransaction(postgres, async (on) => {
      await runStatement(on, begin);
      await request.beginning?.record?.(on, { run_id: runId });
    });
  } catch (error) {
    await lease.release().catch(() => undefined);
    throw error;
  }
  context.observer.began(tenantName);
  const supervise = () => superviseRun({ ...context, tenant, request, runId, hasAssignments }, lease);
  return { run_id: runId, done: line === undefined ? supervise() : line(() => startQueued(supervise)) };

  async function startQueued(begin: () => Promise<RunResult>): Promise<RunResult> {
    // The record can be closed even if this fails.
    await runStatement(postgres, startQueuedRun(runId)).catch((error: unknown) => {
      context.logger.warn({ err: error, tenant: tenantName }, "could not record the start of a queued run");
    });
    return await begin();
  }
}
