import type { Interruption } from "../postgres/transaction.js";

/** The interface of the API to the runner. */
export interface PipelineControl {
  /**
   * Starts a run, or queues it if the maximum number of tenants is running. Returns as soon as the run has a record.
   * Throws RunInProgressError or TenantSuspendedError.
   */
  trigger(tenantName: string, options?: TriggerOptions): Promise<TriggeredRun>;
  /** Looks for due tenants now: something was delivered. Without a call, the schedule looks every few seconds. */
  lookForDue(): void;
}

export interface TriggerOptions {
  /** Gathers even if the tenant was gathered moments ago. */
  readonly forceGather?: boolean;
  /** The caller's deadline: the run does not start after it. */
  readonly stop?: Interruption;
}

export interface TriggeredRun {
  readonly run_id: string;
  /** True if the run waits in the queue. */
  readonly queued: boolean;
}

/** The tenant already has a run, in this or another process. */
export class RunInProgressError extends Error {
  override readonly name = "RunInProgressError";
  constructor(readonly tenantName: string) {
    super(`a run of tenant ${tenantName} is already in progress`);
  }
}

/** The tenant failed too often, and does not run until the service is restarted. */
export class TenantSuspendedError extends Error {
  override readonly name = "TenantSuspendedError";
  constructor(
    readonly tenantName: string,
    override readonly cause: string,
  ) {
    super(`tenant ${tenantName} is permanently suspended: ${cause}`);
  }
}
