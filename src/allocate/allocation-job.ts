import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { BackupLock } from "../stores/backup-lock.js";
import type { Calculation } from "./calculate.js";
import type { RuleSet } from "./rules.js";
import type { DayCheck } from "./sql/check-conservation.js";

/** The stores, and the lease under which days are published. */
export interface Publication {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly backupLock: BackupLock;
  readonly tenantName: string;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/** Input and callbacks of the calculation of a tenant's pending days, one per ledger. */
export interface LedgerJob extends Calculation, Publication {
  readonly retryLimit: number;
  readonly maxWork: number;
  readonly maxDays: number;
  readonly logger: Logger;
  readonly onStage: (stage: "calculating" | "publishing", day: string | null) => Promise<void>;
  readonly onPending: (days: number) => void;
  readonly onPublished: (day: DayCheck) => void;
  readonly onFailure: (day: string, message: string, isConservation: boolean) => void;
}

/** A job for days of any rules. */
export type LedgerDays = Omit<LedgerJob, "rules">;

/** Allocation to identities, and to topics if enabled. */
export interface AllocatePending extends Omit<LedgerDays, "ledger"> {
  /** Returns the rules of a day. */
  readonly rulesOn: (day: string) => RuleSet;
  readonly topics?: TopicAttribution;
}

export interface TopicAttribution {
  readonly rules: RuleSet;
  /** `topic_attribution_retry_limit`. */
  readonly retryLimit: number;
}
