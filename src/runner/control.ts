import type { Interruption } from "../store/postgres/transaction.js";

/** What the API may ask of the runner, and how the runner refuses. */
export interface PipelineControl {
  /**
   * Begins a run, or puts it in line when as many tenants run as may; returns as soon as it has a record. Throws RunInProgressError or
   * TenantSuspendedError.
   */
  trigger(tenantName: string, options?: TriggerOptions): Promise<TriggeredRun>;
}

export interface TriggerOptions {
  /** Gathers also when the tenant was gathered moments ago. */
  readonly forceGather?: boolean;
  /** Of who asks: nothing begins when it is too late for that. */
  readonly stop?: Interruption;
}

export interface TriggeredRun {
  readonly run_id: string;
  /** It waits for its place. */
  readonly queued: boolean;
}

/** The tenant has a run under way, whoever began it. */
export class RunInProgressError extends Error {
  override readonly name = "RunInProgressError";
  constructor(readonly tenantName: string) {
    super(`a run of tenant ${tenantName} is already in progress`);
  }
}

/** The tenant failed too often and is not run until the service is restarted. */
export class TenantSuspendedError extends Error {
  override readonly name = "TenantSuspendedError";
  constructor(
    readonly tenantName: string,
    override readonly cause: string,
  ) {
    super(`tenant ${tenantName} is permanently suspended: ${cause}`);
  }
}
