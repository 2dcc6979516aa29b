import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { AllocationRule, IdentityScope } from "../config/allocation-rule.js";
import type { EcosystemSettings } from "../config/ecosystem-settings.js";
import type { PluginSettings } from "../config/plugin-settings.js";
import type { TopicMetric, TopicRule } from "../config/topic-rule.js";
import type { Statement } from "../store/clickhouse/statement.js";
import type { ControlTotal } from "../store/control-totals.js";
import type { FactRecord } from "../store/fact-tables.js";
import type { PublishLock } from "../store/publish-lock.js";
import type { KnownInventory } from "./known.js";
import type { MicroUnits } from "./micro-units.js";
import type { InventoryReport, Probe, TopicReport, WindowReport } from "./reports.js";
import type { UploadLimits } from "./usage-uploads/load.js";

/**
 * What a kind of upstream has to say and do to be charged back. Adding an ecosystem means adding one folder that exports one
 * of these, and one line in the registry; nothing else of the service knows ecosystems by name.
 */
export interface Ecosystem<Settings = unknown> extends EcosystemSettings {
  /** Name in the configuration, on rows and in the API: `generic_metrics_only`. */
  readonly name: string;
  /** Rules of its product types. May depend on the settings, never on gathered data. */
  rules(settings: Settings): readonly AllocationRule[];
  /**
   * Metrics whose labels say who was active on a resource: their identities become the `metrics_derived` set of the day,
   * also those with usage 0.
   */
  derivingMetrics(settings: Settings): readonly string[];
  /**
   * Usage metrics that stand in for one another, the preferred first: of those that a resource has usage of on a day, only the first
   * counts. Left out: none.
   */
  readonly standIns?: readonly string[];
  /**
   * True if `UNALLOCATED` becomes a member of these sets: usage whose principal exists, but whose owner nobody knows. Left out if usage of
   * `UNALLOCATED` is that of series without the label, which may be anything.
   */
  readonly unknownOwnersAreActive?: true;
  /**
   * Product types whose lines are attributed to topics as well, by an ecosystem that has the settings `topic_attribution`; its
   * gatherers then have `gatherTopics`.
   */
  topicRules?(settings: Settings): readonly TopicRule[];
  /** Usage that may be uploaded; left out: none. */
  usageUploads?(settings: Settings): UploadLimits;
  /**
   * Control totals of all that is stored of the tenant, at the end of a run. Undefined while `digest` is that of the last totals and
   * nothing was published since. Left out: the reports of windows have the control totals of their days.
   */
  controlTotals?(
    settings: Settings,
    input: ControlInput,
    signal: AbortSignal,
  ): Promise<ControlResult | undefined>;
  /** Opens the connection of one run. Must not talk to the upstream yet. */
  connect(settings: Settings, context: GatherContext): Gatherer;
}

/** An ecosystem whose own settings are not known here; it narrows them itself. */
export type AnyEcosystem = Ecosystem<PluginSettings>;

export interface ControlInput {
  readonly tenantName: string;
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  /** Days that every run gathers: `[today − lookback_days, today − cutoff_days)`. */
  readonly window: DayWindow;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  /** Digest of the last totals; undefined where there are none, or where days were published since. */
  readonly digest: string | undefined;
}

export interface ControlResult {
  readonly totals: readonly ControlTotal[];
  readonly digest: string;
  /** Sentences: rows that are not accounted for. */
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
   * Resources and identities as the service remembers them, the deleted too, once this run's inventory is gathered. Sets of a
   * past day are chosen from it by lifetime, so that they do not change when something is deleted today.
   */
  known(signal: AbortSignal): Promise<KnownInventory>;
  /** For an ecosystem that keeps what it was told. Left out where an upstream is only tried. */
  readonly store?: GatherStore;
}

/** The tenant's stores during a run. */
export interface GatherStore {
  /** Client whose default database is the tenant's. */
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly publishLock: PublishLock;
  /** Of the lease that is held. */
  readonly epoch: number;
  /** First day that the run gathers. */
  readonly gatheredFrom: string;
  /** First UTC day that is kept; what is older, retention drops. */
  readonly keepFrom: string;
}

/** One tenant's upstream during one run. */
export interface Gatherer {
  /** Resources and identities as they are now. Throws when nothing at all could be gathered. */
  gatherInventory(sink: InventorySink, signal: AbortSignal): Promise<InventoryReport>;
  /**
   * Billing lines, usage and identity sets of whole UTC days. Throws when the window could not be gathered; then nothing of it
   * counts. Metrics that failed are reported as gaps, not thrown: the bill is still good.
   */
  gatherWindow(window: DayWindow, sink: WindowSink, signal: AbortSignal): Promise<WindowReport>;
  /**
   * Usage of the topics of clusters on whole UTC days; asked for after the bill of these days, and only where topic attribution
   * is switched on. A topic without usage is told with 0: which topics there are is known from nothing else. Metrics that
   * failed are reported as gaps; one that throws has failed altogether. Neither concerns the chargebacks.
   */
  gatherTopics?(request: TopicRequest, sink: TopicSink, signal: AbortSignal): Promise<TopicReport>;
  /**
   * Whether the upstream answers about a window what it answered when the window was gathered, and nothing else that its input
   * is made of has changed: then it is not gathered again. `answers` are those of the reports. A request that fails is a
   * difference, unless it failed then. Left out: windows are always gathered.
   */
  isUnchanged?(window: DayWindow, answers: GatheredResponses, signal: AbortSignal): Promise<boolean>;
  /**
   * Asks everything once that a gathering asks of the metrics and the bill, to see whether it is answered and with what. After
   * `gatherInventory`, with the resources that it returned. What fails is an answer here, and nothing is thrown for it. Left out: only the
   * inventory can be tried.
   */
  probe?(
    window: DayWindow,
    resources: readonly ResourceRecord[],
    signal: AbortSignal,
  ): Promise<readonly Probe[]>;
  /**
   * Of days on which less is measured than is published, those that the upstream still has samples from before of: there less is news.
   * On the others it has dropped samples, and what is published stays. `metric` is that of usage facts, or the product type of lines
   * that say in their metadata how many samples they are priced by. Left out: an upstream that drops nothing.
   */
  retentionCovers?(
    thinner: {
      readonly metric: string;
      readonly resources: readonly string[];
      readonly days: readonly string[];
    },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Longest window, in days, that one call of gatherWindow should be asked for. */
  readonly daysPerWindow: number;
  /** No window crosses the start of a month: for upstreams whose own periods are months. Default false. */
  readonly cutAtMonths?: boolean;
  close(): Promise<void>;
}

/** Of the gatherer's own form, plain JSON. `ofTopics` is undefined where no topics were asked for. */
export interface GatheredResponses {
  readonly ofWindow: unknown;
  readonly ofTopics: unknown;
}

/** Whole UTC days `[start, end)`, as `YYYY-MM-DD`. */
export interface DayWindow {
  readonly start: string;
  readonly end: string;
}

/** Sinks take batches and answer when they have room again: a gatherer that awaits them never outruns the store. */
export interface InventorySink {
  resources(batch: readonly ResourceRecord[]): Promise<void>;
  /**
   * Resources that the engine itself selects, each id once: rows with the columns `resource_id`, `resource_type`, `display_name`,
   * `parent_id` and `owner_id`, texts that are empty where there is none, and the days of the first and the last costs, `first_day`
   * and `last_day`, which are null where there is none.
   */
  resourceRows(select: Statement): Promise<void>;
  identities(batch: readonly IdentityRecord[]): Promise<void>;
}

export interface WindowSink {
  billing(batch: readonly BillingLine[]): Promise<void>;
  /**
   * Lines that the engine itself selects, of any of the window's days: rows with the columns `selectedColumns`, by name. They are taken
   * as they are, so what cannot be stored must have been refused or mended before.
   */
  billingRows(select: Statement): Promise<void>;
  usage(batch: readonly UsageFact[]): Promise<void>;
  /** Facts that the engine itself selects, all of the window's days: rows with the columns of `UsageFact`, by name, taken as they are. */
  usageRows(select: Statement): Promise<void>;
  /** As `usage`, for many steps at a time, at a fraction of the cost: for millions of facts. */
  usageSeries(batch: readonly UsageSeries[]): Promise<void>;
  identitySets(batch: readonly IdentitySetMember[]): Promise<void>;
  usageGaps(batch: readonly UsageGap[]): Promise<void>;
  /** A gap of each resource that is billed on the day; after the bill of the window. */
  usageGapsOfBilled(batch: readonly Omit<UsageGap, "resource_id">[]): Promise<void>;
}

/** Whose topics are asked for: clusters that the bill of the window has lines of. */
export interface TopicRequest {
  readonly window: DayWindow;
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
  /** ISO 8601 with offset, or null when the upstream does not say. */
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

/** A line of the bill, without what the tenant says of all of them. Values are texts of the forms that their columns' kinds name. */
export type BillingLine = FactRecord<"billing">;

export type UsageFact = FactRecord<"usage">;

/** A usage fact for each of some periods. */
export interface UsageSeries extends Omit<UsageFact, "timestamp" | "micro_units" | "scale"> {
  /** Decimal places of all quantities beyond six. */
  readonly scale: number;
  /** Where the periods start, in whole seconds since 1970. */
  readonly starts: readonly number[];
  /** The quantity of each of them. */
  readonly microUnits: readonly MicroUnits[];
}

export interface TopicUsageFact extends FactRecord<"topic_usage"> {
  readonly metric: TopicMetric;
}

export interface IdentitySetMember extends FactRecord<"identity_sets"> {
  readonly scope: IdentityScope;
}

export type UsageGap = FactRecord<"usage_gaps">;
