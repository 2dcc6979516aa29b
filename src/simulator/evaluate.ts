/** Evaluates a selection of series at points in time. */
import { DAY_SECONDS } from "../common/days.js";
import type { PromqlAggregation, RangeFunction, Selection } from "./selector.js";
import type { RawSeries, SeriesHistory } from "./series.js";

export interface Result {
  readonly labels: Readonly<Record<string, string>>;
  /** One value for each point; `ABSENT` if there is none. */
  readonly values: Float64Array;
}

/** Applies faults to a sample. Returns its new value, or undefined to drop it. */
export type Distort = (metric: string, second: number, value: number) => number | undefined;

const HOUR = 3600;
const MINUTES = 60;

export function evaluate(
  history: SeriesHistory,
  selection: Selection,
  points: readonly number[],
  distort: Distort,
): Result[] {
  const results = selected(history, selection, points, distort);
  return selection.counted ? countOf(results, points) : results;
}

/** One series without labels that counts the series with a sample at each point. */
function countOf(results: readonly Result[], points: readonly number[]): Result[] {
  const counts = points.map(
    (_point, index) => results.filter(({ values }) => values[index] !== ABSENT).length,
  );
  const values = Float64Array.from(counts, (count) => (count === 0 ? ABSENT : count));
  return results.length === 0 ? [] : [{ labels: {}, values }];
}

function selected(
  history: SeriesHistory,
  selection: Selection,
  points: readonly number[],
  distort: Distort,
): Result[] {
  const { metric, matches, over, aggregation } = selection;
  const latest = history.now() / 1000;
  const earliest = Math.floor(latest / DAY_SECONDS - history.days) * DAY_SECONDS;
  const groups = new Map<
    string,
    { labels: Record<string, string>; values: Float64Array; counts: Float64Array }
  >();
  for (const series of history.series(metric, selection.listed)) {
    if (!matches(series.labels)) continue;
    const labels = resultLabels(series, selection);
    const key = JSON.stringify(labels);
    const group = groups.get(key) ?? {
      labels,
      values: new Float64Array(points.length).fill(Number.NaN),
      counts: new Float64Array(points.length),
    };
    groups.set(key, group);
    points.forEach((point, index) => {
      if (point <= earliest || point > latest) return;
      const raw = over === undefined ? sampled(series, point) : ranged(series, point, over);
      const value = raw === undefined ? undefined : distort(metric, point, raw);
      if (value === undefined) return;
      const before = group.counts[index] === 0 ? undefined : group.values[index];
      group.counts[index] = (group.counts[index] ?? 0) + 1;
      group.values[index] = merged(aggregation?.name, before, value);
    });
  }
  return [...groups.values()]
    .map(({ labels, values, counts }) => ({
      labels,
      values: finished(aggregation?.name, values, counts),
      counts,
    }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .map(({ labels, values, counts }) => ({
      labels,
      values: values.map((value, at) => (counts[at] ? value : ABSENT)),
    }));
}

/** Marks a point without a sample. It is not NaN, because a fault may turn samples into NaN. */
export const ABSENT = Number.NEGATIVE_INFINITY;

/** The sample at a point. A point on the hour belongs to the hour that ends there. */
function sampled({ inHour, perMinute }: RawSeries, point: number): number | undefined {
  const value = inHour(Math.ceil(point / HOUR) - 1);
  return value !== undefined && perMinute === "delta" ? Math.floor(value / MINUTES) : value;
}

function ranged(
  series: RawSeries,
  point: number,
  over: { name: RangeFunction; seconds: number },
): number | undefined {
  const from = point - over.seconds;
  if (over.seconds === HOUR && point % HOUR === 0) return ofOneHour(series, from / HOUR, over);
  const hourValues: number[] = [];
  let sum = 0;
  for (let hour = Math.floor(from / HOUR); hour * HOUR < point; hour += 1) {
    const share = (Math.min(point, (hour + 1) * HOUR) - Math.max(from, hour * HOUR)) / HOUR;
    const value = share > 0 ? series.inHour(hour) : undefined;
    if (value === undefined) continue;
    hourValues.push(value);
    sum += value * share;
  }
  return hourValues.length === 0 ? undefined : folded(over, { hourValues, sum, perMinute: series.perMinute });
}

/** Fast path for a range of one full hour, which nearly all queries have: one value, nothing to add up. */
function ofOneHour({ inHour, perMinute }: RawSeries, hour: number, over: Parameters<typeof folded>[0]) {
  const value = inHour(hour);
  return value === undefined ? undefined : folded(over, { hourValues: [value], sum: value, perMinute });
}

interface HourValues {
  /** Values of the hours that the range touches. */
  readonly hourValues: readonly number[];
  /** Their sum, each weighted by the part of its hour that is in the range. */
  readonly sum: number;
  readonly perMinute: RawSeries["perMinute"];
}

function folded(
  { name, seconds }: { name: RangeFunction; seconds: number },
  { hourValues, sum, perMinute }: HourValues,
) {
  const samplesPerHour = perMinute === "delta" ? MINUTES : 1;
  if (name === "rate") return sum / seconds;
  if (name === "present_over_time") return 1;
  if (name === "count_over_time") return hourValues.length * (perMinute === undefined ? 1 : MINUTES);
  if (name === "max_over_time") return Math.max(...hourValues) / samplesPerHour;
  if (name === "min_over_time") return Math.min(...hourValues) / samplesPerHour;
  if (name === "last_over_time") return (hourValues.at(-1) ?? 0) / samplesPerHour;
  if (name === "avg_over_time") return sum / hourValues.length / samplesPerHour;
  return Math.floor(perMinute === "level" && name === "sum_over_time" ? sum * MINUTES : sum);
}

function resultLabels(
  { labels }: RawSeries,
  { metric, over, aggregation }: Selection,
): Record<string, string> {
  if (aggregation === undefined) return over === undefined ? { __name__: metric, ...labels } : { ...labels };
  return Object.fromEntries(aggregation.by.flatMap((name) => (labels[name] ? [[name, labels[name]]] : [])));
}

function merged(name: PromqlAggregation | undefined, before: number | undefined, value: number): number {
  if (name === "group" || name === "count") return (before ?? 0) + 1;
  if (before === undefined) return value;
  if (name === "min") return Math.min(before, value);
  if (name === "max") return Math.max(before, value);
  return before + value;
}

function finished(
  name: PromqlAggregation | undefined,
  values: Float64Array,
  counts: Float64Array,
): Float64Array {
  if (name === "group") return values.map(() => 1);
  if (name === "avg") return values.map((value, at) => value / (counts[at] ?? 1));
  return values;
}
