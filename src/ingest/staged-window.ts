/** What a window is staged with, and what comes of it. */
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { AllocationPlan } from "../config/allocation/plan.js";
import type { TenantStore } from "../store/stores.js";
import type { DayWindow, Gatherer } from "./ecosystem.js";
import type { DayRemark } from "./reports.js";
import type { TopicStaging } from "./stage-topics.js";

export interface StageWindowOptions {
  readonly store: TenantStore;
  readonly postgres: Pool;
  /** Of the lease that is held; names the staging tables. */
  readonly epoch: number;
  readonly gatherer: Gatherer;
  /** At most `gatherer.daysPerWindow` days. */
  readonly window: DayWindow;
  /** Of the tenant's settings, as far as they decide what is gathered. */
  readonly settingsDigest: string;
  readonly rulesHash: string;
  readonly decimalPlaces: number;
  /** `Ecosystem.derivingMetrics` of the tenant. */
  readonly derivingMetrics: readonly string[];
  /** `Ecosystem.standIns`. */
  readonly standIns?: readonly string[] | undefined;
  /** `Ecosystem.unknownOwnersAreActive`. */
  readonly unknownOwnersAreActive?: true | undefined;
  /** Identity sources and rules of the tenant; undefined where it has none. */
  readonly allocation?: AllocationPlan | undefined;
  /** Sentences: what this run could not gather of resources and identities. Every day of the window lacks it. */
  readonly inventoryLacks: readonly string[];
  /** Types of the inventory that this run gathered completely. */
  readonly completeTypes: readonly string[];
  /** Gathers in a row without what a day lacks, after which it is settled as it is. */
  readonly retryLimit: number;
  /** Left out where costs are not attributed to topics. */
  readonly topics?: TopicStaging | undefined;
  /** Stage also the days whose input has not changed. Default false. */
  readonly force?: boolean;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface StagedWindow {
  /** Days that wait to be calculated, ascending. */
  readonly staged: readonly string[];
  /** Days whose published rows were calculated from the same input. */
  readonly unchanged: readonly string[];
  /** Days that nothing was billed on, now or before. */
  readonly empty: readonly string[];
  /** Days that could not be gathered: they keep what they had. */
  readonly incomplete: readonly string[];
  readonly billingLines: number;
  readonly usageFacts: number;
  /** Records that were not taken, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** One sentence for each day or source that is incomplete. */
  readonly errors: readonly string[];
  /** What is worth knowing and no error, as sentences. */
  readonly notes: readonly string[];
  /** As in the report of a window. */
  readonly refused?: string | undefined;
  /** What could not be had of days that stay as they are published, by day. */
  readonly kept: readonly DayRemark[];
}
