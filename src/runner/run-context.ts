import type { Logger } from "pino";
import type { TenantConfig } from "../config/config.js";
import type { AnyEcosystem, DayWindow } from "../ingest/ecosystem.js";
import type { Interruption } from "../store/postgres/transaction.js";
import type { RunStores } from "../store/stores.js";
import type { RunListener } from "./run-events.js";
import type { LeaseTiming } from "./sql/leases.js";
import type { RunTrigger } from "./sql/runs.js";

/** What runs work with. One for all tenants of a process. */
export interface TenantRunContext {
  readonly stores: RunStores;
  readonly ecosystems: ReadonlyMap<string, AnyEcosystem>;
  readonly holder: string;
  readonly logger: Logger;
  readonly observer: Required<RunListener>;
  readonly now: () => Date;
  readonly limits: AllocationLimits;
  /** Default: a lease of 60 s with a heartbeat each 20 s. */
  readonly leaseTiming?: LeaseTiming;
}

/** What one allocation statement may take. */
export interface AllocationLimits {
  readonly maxMemoryBytes: number;
  readonly maxWork: number;
  readonly maxDays: number;
}

/** Measured: the engine stays near 1 GiB, and larger batches run no faster. Work is facts, set members and rows, see estimateDays. */
export const usualLimits: AllocationLimits = {
  maxMemoryBytes: 1.25 * 2 ** 30,
  maxWork: 5_000_000,
  maxDays: 100,
};

export interface RunRequest {
  readonly trigger: RunTrigger;
  readonly signal: AbortSignal;
  /** Of who waits for it to begin: nothing begins when it is too late for that. */
  readonly beginning?: Interruption | undefined;
  /** Gathers these days instead of the tenant's window. */
  readonly window?: DayWindow;
  /** A run that the API triggered gathers though it has gathered moments ago. */
  readonly forceGather?: boolean;
  /** Calculates days again whose input has not changed. */
  readonly force?: boolean;
}

/** A run that has its lease and its record. */
export interface BegunRun extends TenantRunContext {
  readonly tenant: TenantConfig;
  readonly request: RunRequest;
  readonly runId: string;
}
