/** What the API may ask of the runner, and how the runner refuses. */
export interface PipelineControl {
  /** Begins a run; answers as soon as it has a record. Throws RunInProgressError or TenantSuspendedError. */
  trigger(tenantName: string): Promise<{ readonly run_id: string }>;
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
