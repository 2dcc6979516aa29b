/** What a gatherer says that it did, besides what it delivered. */
import type { ControlTotal } from "../store/control-totals.js";

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
  /** What is worth knowing and no error, as sentences. */
  readonly notes?: readonly string[];
  /**
   * Whether days wait for an inventory without errors before they are calculated. Default true; false where what is allocated to
   * whom does not come from the inventory.
   */
  readonly daysNeedIt?: boolean;
}

/** What the rows of a bill add up to on a UTC day in a currency, as a plain decimal. */
export interface BilledAmount {
  readonly day: string;
  readonly currency: string;
  readonly amount: string;
}

/** A sentence about a UTC day; that of many days may be the same. */
export interface DayRemark {
  readonly day: string;
  readonly remark: string;
}

export interface WindowReport {
  /** Days of the window whose bill is complete, ascending. The others keep what they had. */
  readonly completeDays: readonly string[];
  /**
   * Days whose bill lacks lines that could not be had, ascending: they are taken as they are, unless a bill with those lines is
   * published already, which then stays. None of them is in `completeDays`.
   */
  readonly partialDays?: readonly string[];
  /**
   * Of the partial days, those whose lines are there and cannot be read: a bill that is published with more lines, or with a larger amount
   * in some currency, stays as well.
   */
  readonly unreadDays?: readonly string[];
  /** What the upstream returned but was not taken, by reason: `outside_window`, `repeated`, `not_finite`, `negative`, `malformed`. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  /**
   * What the rows of the bill add up to, counted apart from the lines that were sent. A day whose staged lines add up to something else is
   * not calculated. Left out: an upstream whose rows are counted elsewhere.
   */
  readonly billed?: readonly BilledAmount[];
  /**
   * Control totals of the window's days; those of a day that is taken replace what was recorded of it. Left out by ecosystems that have
   * `controlTotals`.
   */
  readonly control?: readonly ControlTotal[];
  /**
   * Why the upstream refuses the credentials, where the bill does without it: what is known is taken all the same, and the gather counts
   * as a failed one.
   */
  readonly refused?: string;
  /** What is worth knowing and no error, as sentences. A run tells each once, however many windows say it. */
  readonly notes?: readonly string[];
  /** Sentences about how days of the window are billed. One of a day that keeps the bill that is published is not passed on. */
  readonly dayNotes?: readonly DayRemark[];
  /** What was answered, as digests, for `isUnchanged`, and which questions about usage failed. Left out when something of the bill was not. */
  readonly responses?: unknown;
  /** How many questions about usage failed. Default 0. */
  readonly failures?: number;
}

export interface TopicReport {
  /** As in the report of a window. */
  readonly responses?: unknown;
  /** As in the report of a window. */
  readonly failures?: number;
  /** As in the report of a window. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

/** The first lines of a bill. */
export interface SampledTags {
  readonly file: string;
  /** Keys of the line's tags, and its cost without its sign. */
  readonly lines: readonly { readonly keys: readonly string[]; readonly size: number }[];
}

/** What one question to an upstream came to. */
export interface Probe {
  /** What was asked for: `cost PG_STORAGE`, `usage bytes_in`, `bill`. */
  readonly name: string;
  /** How much of what was returned, in the order to show it. */
  readonly found?: Readonly<Record<string, number>>;
  /** Which periods it is about, and which days are charged. */
  readonly period?: string;
  /** Names of the labels that the series have. */
  readonly labels?: readonly string[];
  /** Why it failed: one sentence without secrets. */
  readonly failure?: string;
  readonly tags?: SampledTags;
  /** What may be a mistake, and may be meant. */
  readonly remark?: string;
}
