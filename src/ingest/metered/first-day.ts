/**
 * Finds the first day that the upstream has samples of. Earlier days have no data, because nothing was measured yet or
 * it is no longer kept. That is no failure: it is only reported where the samples begin.
 */
import { type DayRange, earliest } from "../../common/days.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { PrometheusSource } from "../prometheus/source.js";
import { firstSample, reachOf } from "./first-sample.js";

export interface FirstDay {
  /**
   * Records a day with samples. It corrects the first day, which is found by samples at midnight only: a gauge may be
   * off at each midnight.
   */
  measured(day: string): void;
  /** Undefined if the beginning is unknown: the upstream has no sample, or the request failed. */
  of(window: DayRange, signal: AbortSignal): Promise<string | undefined>;
}

/** Returns the note about the first day. */
export function firstDayNote(first: string): string {
  return `the upstream has samples from ${first} on; days before are not there, and are left out`;
}

export interface FirstDayOptions {
  readonly source: PrometheusSource;
  /** Expressions to look for, at least one. */
  readonly expressions: readonly string[];
  /** Whether a day needs samples of all expressions, or of any. */
  readonly needed: "all" | "any";
  readonly stepSeconds: number;
}

/**
 * Queries the upstream once for all windows of a run. They come newest first, and the first query reaches back beyond
 * the last window.
 */
export function createFirstDay(options: FirstDayOptions): FirstDay {
  let found: Promise<{ readonly first: string | undefined; readonly from: string }> | undefined;
  let firstMeasured: string | undefined;
  return {
    measured(day) {
      firstMeasured = earliest(day, firstMeasured ?? day);
    },
    async of(window, signal) {
      found ??= findFirst(options, window, signal);
      const { first, from } = await found;
      // A metric with samples from the start of the query may have begun before it.
      if (first === undefined || first <= from || window.start < from) return undefined;
      return earliest(first, firstMeasured ?? first);
    },
  };
}

async function findFirst(
  { source, expressions, needed, stepSeconds }: FirstDayOptions,
  { end }: DayRange,
  signal: AbortSignal,
) {
  const from = reachOf(end).start;
  try {
    const days = await Promise.all(
      expressions.map((expression) => firstSample(source, { expression, stepSeconds, end }, signal)),
    );
    const known = days.filter((day) => day !== undefined).sort();
    const isKnown = needed === "any" || known.length === days.length;
    return { first: isKnown ? known.at(needed === "any" ? 0 : -1) : undefined, from };
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return { first: undefined, from };
  }
}
