import type { Logger } from "pino";
import type { DayRange } from "../common/days.js";
import type { TenantConfig } from "../config/config.js";
import type { AnyEcosystem } from "../ingest/ecosystem.js";
import type { Interruption } from "../postgres/transaction.js";
import type { RunStores } from "../stores/stores.js";
import type { RunListener } from "./run-events.js";
import type { LeaseTiming } from "./sql/leases.js";
import type { RunTrigger } from "./sql/runs.js";

/** Dependencies of runs, shared by all tenants of a process. */
export interface TenantRunContext {
  readonly stores: RunStores;
  readonly ecosystems: ReadonlyMap<string, AnyEcosystem>;
  readonly holder: string;
  readonly logger: Logger;
  readonly observer: Required<RunListener>;
  readonly now: () => Date;
  readonly limits: AllocationLimits;
  /** By default a lease of 60 s with a heartbeat every 20 s. */
  readonly leaseTiming?: LeaseTiming;
}

/** Limits of one allocation statement. */
export interface AllocationLimits {
  readonly maxMemoryBytes: number;
  readonly maxWork: number;
  readonly maxDays: number;
}

/**
 * Measured: the engine stays near 1 GiB, and larger batches are no faster. Work is the sum of facts, set members and
 * rows, see estimateDays.
 */
export const usualLimits: AllocationLimits = {
  maxMemoryBytes: 1.25 * 2 ** 30,
  maxWork: 5_000_000,
  maxDays: 100,
};

export interface RunRequest {
  readonly trigger: RunTrigger;
  readonly signal: AbortSignal;
  /** The caller's deadline: the run does not start after it. */
  readonly beginning?: Interruption | undefined;
  /** Gathers these days instead of the tenant's window. */
  readonly window?: DayRange;
  /** A run that the API triggers gathers even if it has gathered moments ago. */
  readonly forceGather?: boolean;
  /** Files were delivered or usage was uploaded, so a scheduled run gathers even if it has gathered moments ago. */
  readonly isDelivered?: boolean;
  /** Recalculates days even if their input has not changed. */
  readonly force?: boolean;
}

/** A run that has a lease and a record. */
export interface BegunRun extends TenantRunContext {
  readonly tenant: TenantConfig;
  readonly request: RunRequest;
  readonly runId: string;
  /** Whether resources of the tenant are assigned to identities. */
  readonly hasAssignments: boolean;
}
