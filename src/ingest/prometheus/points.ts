/**
 * Points in time of a window of whole UTC days.
 *
 * The point at t covers the step before it, (t - step, t]. So a day has the points start + step … end: 24 at a step of
 * an hour, and the one at midnight belongs to the day that ends there. Nothing is lost, and nothing is counted twice.
 */
import { DAY_SECONDS, type DayRange, dayOfSeconds, midnightSeconds } from "../../common/days.js";

/** Points from `first` to `last`, both included, in seconds since 1970, `stepSeconds` apart. */
export interface PointRange {
  readonly first: number;
  readonly last: number;
  readonly stepSeconds: number;
}

export function readPoints(window: DayRange, stepSeconds: number): PointRange {
  if (!Number.isInteger(stepSeconds) || stepSeconds < 1 || DAY_SECONDS % stepSeconds !== 0) {
    throw new RangeError(`a step must divide a day evenly, which ${stepSeconds} s does not`);
  }
  const start = midnightSeconds(window.start);
  const end = midnightSeconds(window.end);
  if (end <= start)
    throw new RangeError(`a window must have at least one day: ${window.start} to ${window.end}`);
  return { first: start + stepSeconds, last: end, stepSeconds };
}

export function countOf({ first, last, stepSeconds }: PointRange): number {
  return (last - first) / stepSeconds + 1;
}

/** Start of the step that a point covers. */
export function coveredFrom(point: number, stepSeconds: number): number {
  return point - stepSeconds;
}

/** Consecutive ranges of at most `most` points, of whole days if a day fits. */
export function* chunksOf(range: PointRange, most: number): Generator<PointRange> {
  const perDay = DAY_SECONDS / range.stepSeconds;
  const size = most >= perDay ? Math.floor(most / perDay) * perDay : most;
  for (let first = range.first; first <= range.last; first += size * range.stepSeconds) {
    yield { ...range, first, last: Math.min(range.last, first + (size - 1) * range.stepSeconds) };
  }
}

/** Splits a range into two halves, at a midnight if there is one between them. Undefined for a single point. */
export function halvesOf(range: PointRange): [PointRange, PointRange] | undefined {
  const points = countOf(range);
  if (points < 2) return undefined;
  const days = daysOf(range);
  const middle = days[Math.floor(days.length / 2)];
  const firstOfSecond =
    days.length > 1 && middle !== undefined
      ? midnightSeconds(middle) + range.stepSeconds
      : range.first + Math.ceil(points / 2) * range.stepSeconds;
  return [
    { ...range, last: firstOfSecond - range.stepSeconds },
    { ...range, first: firstOfSecond },
  ];
}

/** UTC days of the steps of these points, ascending. */
export function daysOf({ first, last, stepSeconds }: PointRange): string[] {
  const days: string[] = [];
  const from = coveredFrom(first, stepSeconds);
  for (let at = from - (from % DAY_SECONDS); at < last; at += DAY_SECONDS) days.push(dayOfSeconds(at));
  return days;
}

/** Points of a range whose steps are in one UTC day. */
export function rangeOfDay(range: PointRange, day: string): PointRange {
  const start = midnightSeconds(day);
  const { first, last, stepSeconds } = range;
  return {
    first: Math.max(first, start + stepSeconds),
    last: Math.min(last, start + DAY_SECONDS),
    stepSeconds,
  };
}
