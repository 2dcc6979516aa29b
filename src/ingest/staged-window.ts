/** Options and result of staging a window. */
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { DayRange } from "../common/days.js";
import type { AllocationPlan } from "../config/allocation/plan.js";
import type { TenantStore } from "../stores/stores.js";
import type { Gatherer } from "./ecosystem.js";
import type { DayRemark } from "./reports.js";
import type { TopicStaging } from "./stage-topics.js";

export interface StageWindowOptions {
  readonly store: TenantStore;
  readonly postgres: Pool;
  /** Epoch of the lease that the run holds. It names the staging tables. */
  readonly epoch: number;
  readonly gatherer: Gatherer;
  /** At most `gatherer.daysPerWindow` days. */
  readonly window: DayRange;
  /** Digest of the settings that decide what is gathered. */
  readonly settingsDigest: string;
  /** Hash under which the rules are stored. */
  readonly rulesHash: string;
  /**
   * Hash of the rules as a part of a day's input: without those for assigned lines, because each line shows its rule.
   * By default the same.
   */
  readonly inputRulesHash?: string | undefined;
  readonly decimalPlaces: number;
  /** `Ecosystem.derivingMetrics` of the tenant. */
  readonly derivingMetrics: readonly string[];
  /** `Ecosystem.standIns`. */
  readonly standIns?: readonly string[] | undefined;
  /** `Ecosystem.unknownOwnersAreActive`. */
  readonly unknownOwnersAreActive?: true | undefined;
  /** Identity sources and rules of the tenant. Undefined if it has none. */
  readonly allocation?: AllocationPlan | undefined;
  /**
   * Sentences: resources and identities that this run could not gather. They are missing on every day of the window.
   */
  readonly inventoryLacks: readonly string[];
  /** Types of the inventory that this run gathered completely. */
  readonly completeTypes: readonly string[];
  /** Number of consecutive gatherings with missing data after which a day is final. */
  readonly retryLimit: number;
  /** Left out if costs are not attributed to topics. */
  readonly topics?: TopicStaging | undefined;
  /** Also stage days whose input has not changed. Default false. */
  readonly force?: boolean;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface StagedWindow {
  /** Days that wait to be calculated, ascending. */
  readonly staged: readonly string[];
  /** Days whose published rows were calculated from the same input. */
  readonly unchanged: readonly string[];
  /** Days without a bill, now or before. */
  readonly empty: readonly string[];
  /** Days that could not be gathered. They stay as they are published. */
  readonly incomplete: readonly string[];
  readonly billingLines: number;
  readonly usageFacts: number;
  /** Records that were not taken, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** One sentence for each day or source that is incomplete. */
  readonly errors: readonly string[];
  /** Sentences worth knowing that are not errors. */
  readonly notes: readonly string[];
  /** See `WindowReport.refused`. */
  readonly refused?: string | undefined;
  /** Sentences about missing data of days that stay as they are published, by day. */
  readonly kept: readonly DayRemark[];
}
