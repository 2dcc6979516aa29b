import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Statement } from "../clickhouse/statement.js";
import type { DayRange } from "../common/days.js";
import type { IdentityMaps } from "../config/allocation/identity-map.js";
import type { EcosystemSettings } from "../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../config/settings/plugin-settings.js";
import type { AllocationRule, IdentityScope } from "../domain/allocation-rule.js";
import type { ControlTotal } from "../domain/control-totals.js";
import type { FactRecord } from "../domain/fact-tables.js";
import type { TopicMetric, TopicRule } from "../domain/topic-rule.js";
import type { BackupLock } from "../stores/backup-lock.js";
import type { KnownInventory } from "./known.js";
import type { MicroUnits } from "./micro-units.js";
import type { InventoryReport, Probe, TopicReport, WindowReport } from "./reports.js";
import type { UploadLimits } from "./usage-uploads/load.js";

/**
 * What an ecosystem has to define, so that its upstream can be charged back. Adding an ecosystem means adding one
 * folder that exports one of these, and one line in the registry; nothing else in the service knows ecosystems by name.
 */
export interface Ecosystem<Settings = unknown> extends EcosystemSettings {
  /** Name in the configuration, on rows and in the API: `generic_metrics_only`. */
  readonly name: string;
  /** Rules of its product types. They may depend on the settings, never on gathered data. */
  rules(settings: Settings): readonly AllocationRule[];
  /**
   * Metrics whose labels show who was active on a resource. Their identities become the `metrics_derived` set of the
   * day, including those with usage 0.
   */
  derivingMetrics(settings: Settings): readonly string[];
  /**
   * Usage metrics that stand in for one another, the preferred one first: if a resource has usage of several on a day,
   * only the first one counts. Default: none.
   */
  readonly standIns?: readonly string[];
  /**
   * True if `UNALLOCATED` becomes a member of these sets, because its usage has a principal whose owner is unknown.
   * Left out if usage of `UNALLOCATED` comes from series without the label, which may be anything.
   */
  readonly unknownOwnersAreActive?: true;
  /** True if bills have several costs for each line (domain/other-costs.ts), and chargebacks split all of them. */
  readonly hasOtherCosts?: true;
  /**
   * Product types whose lines are also attributed to topics. Only for an ecosystem with the setting
   * `topic_attribution`; its gatherers then have `gatherTopics`.
   */
  topicRules?(settings: Settings): readonly TopicRule[];
  /** Usage that may be uploaded. Default: none. */
  usageUploads?(settings: Settings): UploadLimits;
  /** Folders of this machine whose new files make the tenant due. Default: none. */
  deliveryFolders?(settings: Settings): readonly DeliveryFolder[];
  /**
   * Control totals of everything that is stored of the tenant, at the end of a run. Undefined if `digest` is still that
   * of the last totals and nothing was published since. Left out if the reports of windows have the control totals of
   * their days.
   */
  controlTotals?(
    settings: Settings,
    input: ControlInput,
    signal: AbortSignal,
  ): Promise<ControlResult | undefined>;
  /** Opens the connection of one run. Must not send a request to the upstream yet. */
  connect(settings: Settings, context: GatherContext): Gatherer;
}

/** An ecosystem whose own settings are unknown here; it narrows them itself. */
export type AnyEcosystem = Ecosystem<PluginSettings>;

export interface DeliveryFolder {
  /** Throws if the folder cannot be listed. `version` changes with the content, `modified` is in ms since 1970. */
  list(signal: AbortSignal): Promise<{
    readonly files: readonly {
      readonly name: string;
      readonly version: string;
      readonly modified: number;
    }[];
  }>;
  /** A file that has changed more recently than this may still be incomplete. */
  readonly settleMs: number;
}

export interface ControlInput {
  readonly tenantName: string;
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  /** Days that every run gathers: `[today − lookback_days, today − cutoff_days)`. */
  readonly window: DayRange;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  /** Digest of the last totals. Undefined if there are none, or if days were published since. */
  readonly digest: string | undefined;
}

export interface ControlResult {
  readonly totals: readonly ControlTotal[];
  readonly digest: string;
  /** Sentences about rows that are not accounted for. */
  readonly errors: readonly string[];
  /** Sentences about rows that are not charged as a reader of the bill would expect. */
  readonly notes: readonly string[];
}

export interface GatherContext {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly logger: Logger;
  /** Upstream queries that may run at the same time (`metrics_prefetch_workers`). Default 4. */
  readonly parallelQueries?: number;
  /**
   * Resources and identities that the service has stored, including deleted ones, after this run's inventory is
   * gathered. Sets of a past day are chosen from it by lifetime, so that they do not change if something is deleted
   * today.
   */
  known(signal: AbortSignal): Promise<KnownInventory>;
  /** Maps that the tenant names, by path. Default: none. */
  readonly maps?: IdentityMaps;
  /** For ecosystems that store upstream data themselves. Left out when an upstream is only probed. */
  readonly store?: GatherStore;
}

/** The tenant's stores during a run. */
export interface GatherStore {
  /** Client whose default database is the tenant's. */
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly backupLock: BackupLock;
  /** Epoch of the lease that the run holds. */
  readonly epoch: number;
  /** First day that the run gathers. */
  readonly gatheredFrom: string;
  /** First UTC day that is kept. Retention drops older days. */
  readonly keepFrom: string;
}

/** One tenant's upstream during one run. */
export interface Gatherer {
  /** Gathers resources and identities as they are now. Throws if nothing at all could be gathered. */
  gatherInventory(sink: InventorySink, signal: AbortSignal): Promise<InventoryReport>;
  /**
   * Gathers billing lines, usage and identity sets of whole UTC days. Throws if the window could not be gathered; then
   * nothing of it counts. Failed metrics are reported as gaps, not thrown, because the bill is still good.
   */
  gatherWindow(window: DayRange, sink: WindowSink, signal: AbortSignal): Promise<WindowReport>;
  /**
   * Control totals of a window for which `gatherWindow` threw because of the upstream. They are recorded for days
   * without charges. Left out for an upstream whose rows are unknown without a response, and for one whose windows
   * report their failures.
   */
  totalsOfFailedWindow?(window: DayRange): readonly ControlTotal[];
  /**
   * Gathers usage of the topics of clusters on whole UTC days. Called after the bill of these days, and only if topic
   * attribution is on. A topic without usage is sent with 0, because nothing else shows that it exists. Failed metrics
   * are reported as gaps; if it throws, everything has failed. Neither affects the chargebacks.
   */
  gatherTopics?(request: TopicRequest, sink: TopicSink, signal: AbortSignal): Promise<TopicReport>;
  /**
   * Returns true if the upstream's responses for a window are the same as when it was gathered, and no other input has
   * changed. Then the window is not gathered again. `responses` are the responses of the reports. A failed request is a
   * difference, unless it failed before. Left out: windows are always gathered.
   */
  isUnchanged?(window: DayRange, responses: GatheredResponses, signal: AbortSignal): Promise<boolean>;
  /**
   * Sends every metrics and bill request of a gathering once, to see whether it succeeds and what it finds. Called
   * after `gatherInventory`, with the resources that it returned. Failures are returned as probes, not thrown. Left
   * out: only the inventory can be probed.
   */
  probe?(
    window: DayRange,
    resources: readonly ResourceRecord[],
    signal: AbortSignal,
  ): Promise<readonly Probe[]>;
  /**
   * Given days with less usage than published, returns those that the upstream's retention still covers, because it has
   * samples from before the day. On those days the drop is real. On the others the upstream has dropped samples, and
   * the published usage stays. `metric` is that of usage facts, or the product type of lines whose metadata state how
   * many samples they are priced by. Left out for an upstream that drops nothing.
   */
  retentionCovers?(
    reduced: {
      readonly metric: string;
      readonly resources: readonly string[];
      readonly days: readonly string[];
    },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Longest window, in days, that one call of gatherWindow should get. */
  readonly daysPerWindow: number;
  /** True if no window crosses the start of a month, for upstreams with monthly periods. Default false. */
  readonly cutAtMonths?: boolean;
  close(): Promise<void>;
}

/** Plain JSON in the gatherer's own format. `ofTopics` is undefined if no topics were requested. */
export interface GatheredResponses {
  readonly ofWindow: unknown;
  readonly ofTopics: unknown;
}

/** Sinks take batches and resolve when they have room again, so a gatherer that awaits them never outruns the store. */
export interface InventorySink {
  resources(batch: readonly ResourceRecord[]): Promise<void>;
  /**
   * Resources that the engine itself selects, each id once. Rows have the columns `resource_id`, `resource_type`,
   * `display_name`, `parent_id` and `owner_id`, which are texts that may be empty, and the days of the first and the
   * last costs, `first_day` and `last_day`, which may be null. The rows of a statement never change: if the last
   * gathering merged all of them, they are not read again, so the caller cannot claim that their types are complete.
   */
  resourceRows(select: Statement): Promise<void>;
  identities(batch: readonly IdentityRecord[]): Promise<void>;
}

export interface WindowSink {
  billing(batch: readonly BillingLine[]): Promise<void>;
  /**
   * Lines that the engine itself selects, of any of the window's days: rows with the columns `selectedColumns`, by
   * name. They are not checked, so what cannot be stored must have been refused or repaired before.
   */
  billingRows(select: Statement): Promise<void>;
  usage(batch: readonly UsageFact[]): Promise<void>;
  /**
   * Facts that the engine itself selects, of the window's days only: rows with the columns of `UsageFact`, by name.
   * They are not checked.
   */
  usageRows(select: Statement): Promise<void>;
  /** Like `usage`, for many steps at a time and at a fraction of the cost: for millions of facts. */
  usageSeries(batch: readonly UsageSeries[]): Promise<void>;
  identitySets(batch: readonly IdentitySetMember[]): Promise<void>;
  usageGaps(batch: readonly UsageGap[]): Promise<void>;
  /**
   * Adds gaps of resources that are billed on the day. A gap without a resource stands for all of them. Called after
   * the bill of the window.
   */
  usageGapsOfBilled(batch: readonly GapOfBilled[]): Promise<void>;
}

/** The clusters whose topics are requested: those with lines in the bill of the window. */
export interface TopicRequest {
  readonly window: DayRange;
  readonly clusters: readonly string[];
}

export interface TopicSink {
  usage(batch: readonly TopicUsageFact[]): Promise<void>;
  usageGaps(batch: readonly UsageGap[]): Promise<void>;
}

export interface ResourceRecord {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly display_name: string | null;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  /** ISO 8601 with offset, or null if the upstream does not say. */
  readonly created_at: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface IdentityRecord {
  readonly identity_id: string;
  readonly identity_type: string;
  readonly display_name: string | null;
  readonly created_at: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * A line of the bill, without the columns that are the same for all lines of the tenant. Values are texts in the format
 * of their column's kind.
 */
export type BillingLine = FactRecord<"billing">;

export type UsageFact = FactRecord<"usage">;

/** Usage facts of several periods of one series. */
export interface UsageSeries extends Omit<UsageFact, "timestamp" | "micro_units" | "scale"> {
  /** Decimal places of all quantities beyond six. */
  readonly scale: number;
  /** Starts of the periods, in whole seconds since 1970. */
  readonly starts: readonly number[];
  /** The quantity of each period. */
  readonly microUnits: readonly MicroUnits[];
}

export interface TopicUsageFact extends FactRecord<"topic_usage"> {
  readonly metric: TopicMetric;
}

export interface IdentitySetMember extends FactRecord<"identity_sets"> {
  readonly scope: IdentityScope;
}

export type UsageGap = FactRecord<"usage_gaps">;
export type GapOfBilled = Omit<UsageGap, "resource_id"> & Partial<Pick<UsageGap, "resource_id">>;
