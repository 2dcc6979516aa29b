/**
 * The first day that the upstream has samples of. Days before it are not there: nothing was measured yet, or it is kept no longer. That
 * is no failure: nothing is said of them but where the samples begin.
 */

import { earliest } from "../../time/days.js";
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import type { DayWindow } from "../ecosystem.js";
import type { PrometheusSource } from "../prometheus/source.js";
import { firstSample, reachOf } from "./first-sample.js";

export interface FirstDay {
  /** A day that has samples. It disproves what the upstream says of its midnights alone: a gauge may be off at each of them. */
  measured(day: string): void;
  /** Undefined when nothing is known to have begun: the upstream has no sample, or could not be asked. */
  of(window: DayWindow, signal: AbortSignal): Promise<string | undefined>;
}

/** What to say of it. */
export function firstDayNote(first: string): string {
  return `the upstream has samples from ${first} on; days before are not there, and are left out`;
}

export interface FirstDayOptions {
  readonly source: PrometheusSource;
  /** What is asked for; at least one. */
  readonly expressions: readonly string[];
  /** Whether a day needs samples of all expressions, or of any. */
  readonly needed: "all" | "any";
  readonly stepSeconds: number;
}

/** Asks the upstream once, for all windows of a run: they come newest first, and the first reaches back behind the last. */
export function createFirstDay(options: FirstDayOptions): FirstDay {
  let asked: Promise<{ readonly first: string | undefined; readonly from: string }> | undefined;
  let seen: string | undefined;
  return {
    measured(day) {
      seen = earliest(day, seen ?? day);
    },
    async of(window, signal) {
      asked ??= ask(options, window, signal);
      const { first, from } = await asked;
      // What has samples from the very start of the question may have begun before it.
      if (first === undefined || first <= from || window.start < from) return undefined;
      return earliest(first, seen ?? first);
    },
  };
}

async function ask(
  { source, expressions, needed, stepSeconds }: FirstDayOptions,
  { end }: DayWindow,
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
