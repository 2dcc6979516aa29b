/** The stores and settings that deliveries are loaded with. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { BackupLock } from "../../../../stores/backup-lock.js";
import type { Spread } from "../lines/charge-days.js";
import type { CostColumn } from "../load/landing-columns.js";
import type { OverlapSettings } from "../overlaps/decide.js";

export interface DeliveryStore {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly backupLock: BackupLock;
  readonly tenantName: string;
  /** Epoch of the lease that the run holds. */
  readonly epoch: number;
}

export interface LoadSettings {
  readonly cost: CostColumn;
  readonly currency: string | undefined;
  /** See `Replacement.limit`. */
  readonly shrinkLimit: number;
  readonly hash: string;
  /** Today, in UTC. */
  readonly today: string;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  readonly spread: Spread;
  readonly overlaps: OverlapSettings;
}
