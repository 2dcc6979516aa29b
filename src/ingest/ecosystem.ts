import type { Logger } from "pino";
import type { AllocationRule, IdentityScope } from "../config/allocation-rule.js";
import type { EcosystemSettings } from "../config/ecosystem-settings.js";
import type { PluginSettings } from "../config/plugin-settings.js";
import type { TopicMetric, TopicRule } from "../config/topic-rule.js";

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
   * Product types whose lines are attributed to topics as well, by an ecosystem that has the settings `topic_attribution`; its
   * gatherers then have `gatherTopics`.
   */
  topicRules?(settings: Settings): readonly TopicRule[];
  /** Opens the connection of one run. Must not talk to the upstream yet. */
  connect(settings: Settings, context: GatherContext): Gatherer;
}

/** An ecosystem whose own settings are not known here; it narrows them itself. */
export type AnyEcosystem = Ecosystem<PluginSettings>;

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
}

export interface KnownInventory {
  readonly resources: readonly KnownResource[];
  readonly identities: readonly KnownIdentity[];
}

/** In milliseconds since 1970. `created_at` is null when the upstream does not say, `deleted_at` while it exists. */
export interface Lifetime {
  readonly created_at: number | null;
  /** When the deletion was noticed. */
  readonly deleted_at: number | null;
}

export interface KnownResource extends Lifetime {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What it was before, ascending; left out of one that has always been as it is. */
  readonly earlier?: readonly EarlierState[];
}

/** Owner and metadata of a resource up to a time, exclusive, in milliseconds since 1970: when the change was noticed. */
export interface EarlierState extends Pick<KnownResource, "owner_id" | "metadata"> {
  readonly until: number;
}

export interface KnownIdentity extends Lifetime {
  readonly identity_id: string;
  readonly identity_type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
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
   * difference. Left out: windows are always gathered.
   */
  answersAsBefore?(window: DayWindow, answers: GatheredAnswers, signal: AbortSignal): Promise<boolean>;
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
  stillCovers?(
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

/** What one question to an upstream came to. */
export interface Probe {
  /** What was asked for: `cost PG_STORAGE`, `usage bytes_in`, `bill`. */
  readonly name: string;
  /** How much of what was returned, in the order to show it. */
  readonly found?: Readonly<Record<string, number>>;
  /** Names of the labels that the series have. */
  readonly labels?: readonly string[];
  /** Why it failed: one sentence without secrets. */
  readonly failure?: string;
  /** What may be a mistake, and may be meant. */
  readonly remark?: string;
}

/** Of the gatherer's own form, plain JSON. `ofTopics` is undefined where no topics were asked for. */
export interface GatheredAnswers {
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
  identities(batch: readonly IdentityRecord[]): Promise<void>;
}

export interface WindowSink {
  billing(batch: readonly BillingLine[]): Promise<void>;
  usage(batch: readonly UsageFact[]): Promise<void>;
  identitySets(batch: readonly IdentitySetMember[]): Promise<void>;
  usageGaps(batch: readonly UsageGap[]): Promise<void>;
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

export interface TopicReport {
  /** As in the report of a window. */
  readonly answers?: unknown;
  /** As in the report of a window. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

/** Types whose gather was complete: only of these may an entity that was not returned be taken for deleted. */
export interface InventoryReport {
  readonly completeResourceTypes: readonly string[];
  readonly completeIdentityTypes: readonly string[];
  /**
   * Types that are seen only while they do something, such as principals found in metrics: one that is not returned is
   * taken for deleted only when it was last seen more than so many seconds ago. Types without an entry: at once.
   */
  readonly absenceGraceSeconds?: Readonly<Record<string, number>>;
  /** One sentence per source that failed; empty when all is well. */
  readonly errors: readonly string[];
  /** One sentence per source that failed and that no day waits for. */
  readonly warnings?: readonly string[];
  /**
   * Whether days wait for an inventory without errors before they are calculated. Default true; false where what is allocated to
   * whom does not come from the inventory.
   */
  readonly daysNeedIt?: boolean;
}

export interface WindowReport {
  /** Days of the window whose bill is complete, ascending. The others keep what they had. */
  readonly completeDays: readonly string[];
  /**
   * Days whose bill lacks lines that could not be had, ascending: they are taken as they are, unless a bill with those lines is
   * published already, which then stays. None of them is in `completeDays`.
   */
  readonly partialDays?: readonly string[];
  /** What the upstream returned but was not taken, by reason: `outside_window`, `not_finite`, `negative`, `malformed`. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  /**
   * Why the upstream refuses the credentials, where the bill does without it: what is known is taken all the same, and the gather counts
   * as a failed one.
   */
  readonly refused?: string;
  /** What is worth knowing and no error, as sentences. A run tells each once, however many windows say it. */
  readonly notes?: readonly string[];
  /** What was answered, as digests, for `answersAsBefore`. Left out when something was not. */
  readonly answers?: unknown;
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

/** Decimal fields are plain decimal strings with at most 12 places and 26 digits before the point. */
export interface BillingLine {
  /** Start of the billed period, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly timestamp: string;
  /** Environment of the resource; empty when there is none. */
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly quantity: string;
  readonly unit_price: string;
  readonly total_cost: string;
  readonly currency: string;
  readonly granularity: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface UsageFact {
  /** Start of the measured period, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly timestamp: string;
  readonly metric: string;
  readonly resource_id: string;
  readonly identity_id: string;
  /** Quantity in millionths of the metric's unit, a whole number ≥ 0 as text. */
  readonly micro_units: string;
}

export interface TopicUsageFact {
  /** Start of the measured period, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly timestamp: string;
  readonly metric: TopicMetric;
  /** The cluster. */
  readonly resource_id: string;
  readonly topic_name: string;
  /** As in a usage fact. */
  readonly micro_units: string;
}

export interface IdentitySetMember {
  readonly day: string;
  readonly scope: IdentityScope;
  /** Resource of the set; empty for a set of the whole tenant. */
  readonly resource_id: string;
  readonly identity_id: string;
}

export interface UsageGap {
  readonly day: string;
  readonly metric: string;
  /** What it could not be fetched for. */
  readonly resource_id: string;
  /** One sentence, without secrets. */
  readonly reason: string;
}
