/** Reports of gatherers about what they gathered, besides the data that they sent. */
import type { ControlTotal } from "../domain/control-totals.js";

/**
 * The result of gathering the inventory. Only entities of the complete types may be marked as deleted if they were not
 * returned.
 */
export interface InventoryReport {
  readonly completeResourceTypes: readonly string[];
  readonly completeIdentityTypes: readonly string[];
  /**
   * Grace periods of types that are seen only while they are active, such as principals in metrics. A missing entity of
   * such a type is marked as deleted only if it was last seen longer ago than this. Types without an entry: at once.
   */
  readonly absenceGraceSeconds?: Readonly<Record<string, number>>;
  /** One sentence for each failed source. Empty if nothing failed. */
  readonly errors: readonly string[];
  /** One sentence for each failed source that no day waits for. */
  readonly warnings?: readonly string[];
  /** Sentences worth knowing that are not errors. */
  readonly notes?: readonly string[];
  /**
   * Whether days wait for an inventory without errors before they are calculated. Default true. False if the allocation
   * does not use the inventory.
   */
  readonly requiredForDays?: boolean;
}

/** Sum of the rows of a bill on a UTC day in a currency, as a plain decimal. */
export interface BilledAmount {
  readonly day: string;
  readonly currency: string;
  readonly amount: string;
}

/** A sentence about a UTC day. Many days may have the same sentence. */
export interface DayRemark {
  readonly day: string;
  readonly remark: string;
}

export interface WindowReport {
  /** Days of the window whose bill is complete, ascending. The others stay as they are. */
  readonly completeDays: readonly string[];
  /**
   * Days whose bill is missing lines that could not be fetched, ascending. They are taken as they are, unless a bill
   * with those lines is already published, which then stays. None of them is in `completeDays`.
   */
  readonly partialDays?: readonly string[];
  /**
   * Partial days whose lines exist but cannot be read. The published bill also stays if it has more lines, or a larger
   * amount in some currency.
   */
  readonly unreadDays?: readonly string[];
  /**
   * Number of returned records that were not taken, by reason: `outside_window`, `repeated`, `not_finite`, `negative`,
   * `malformed`.
   */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  /**
   * Sums of the rows of the bill, counted independently of the lines that were sent. A day whose staged lines have
   * another sum is not calculated. Left out for an upstream whose rows are counted elsewhere.
   */
  readonly billed?: readonly BilledAmount[];
  /**
   * Control totals of the window's days. Those of a day that is taken replace the day's earlier totals. Left out by
   * ecosystems that have `controlTotals`.
   */
  readonly control?: readonly ControlTotal[];
  /**
   * Why the upstream refuses the credentials, if the bill does not need them. The known data is taken nevertheless, and
   * the gathering counts as failed.
   */
  readonly refused?: string;
  /** Sentences worth knowing that are not errors. A run reports each sentence once, however many windows have it. */
  readonly notes?: readonly string[];
  /**
   * Sentences about how days of the window are billed. Sentences about days that keep their published bill are dropped.
   */
  readonly dayNotes?: readonly DayRemark[];
  /** Ids of the deliveries that the bill was read from. Left out by ecosystems without deliveries. */
  readonly deliveries?: readonly number[];
  /** Digests of the responses for `isUnchanged`, and the failed usage requests. Left out if a bill request failed. */
  readonly responses?: unknown;
  /** Number of failed usage requests. Default 0. */
  readonly failures?: number;
}

export interface TopicReport {
  /** See `WindowReport.responses`. */
  readonly responses?: unknown;
  /** See `WindowReport.failures`. */
  readonly failures?: number;
  /** See `WindowReport.dropped`. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

/** Tags of the first lines of a bill. */
export interface SampledTags {
  readonly file: string;
  /** Keys of the line's tags, and its cost without sign. */
  readonly lines: readonly { readonly keys: readonly string[]; readonly size: number }[];
}

/** The result of one request to an upstream. */
export interface Probe {
  /** What was requested: `cost PG_STORAGE`, `usage bytes_in`, `bill`. */
  readonly name: string;
  /** Number of returned items by kind, in display order. */
  readonly found?: Readonly<Record<string, number>>;
  /** The periods that were found, and the days that are charged. */
  readonly period?: string;
  /** Names of the labels of the series. */
  readonly labels?: readonly string[];
  /** Why it failed: one sentence without secrets. */
  readonly failure?: string;
  readonly tags?: SampledTags;
  /** A finding that may be a mistake or may be intended. */
  readonly remark?: string;
}
