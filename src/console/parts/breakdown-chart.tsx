import { addDays } from "../../common/days.js";
import { exact, minus, zero } from "../../common/exact-decimal.js";
import type { BreakdownRow } from "../api/breakdown.js";
import type { BreakdownResult } from "../api/comparison.js";
import { bucketsOf } from "../state/buckets.js";
import { shownDay, shownInstant } from "../state/days.js";
import { en } from "../text/en.js";
import { Chart, type ChartBucket, type ChartSeries } from "./chart.js";

interface BreakdownChartProps {
  readonly title: string;
  readonly result: BreakdownResult;
  readonly currency: string;
  readonly kind?: "bars" | "area";
  /** Called with the group that was clicked. */
  readonly onPick?: ((group: BreakdownRow) => void) | undefined;
}

/** Number of series colours in the style sheet. */
const COLORS = 10;

/** Groups of one currency over time. The largest is at the bottom; all other groups are one grey series on top. */
export function BreakdownChart({ title, result, currency, kind = "bars", onPick }: BreakdownChartProps) {
  const { breakdown, request } = result;
  const columns = request.groupBy;
  const groups = breakdown.groups.filter((group) => group.currency === currency).slice(0, COLORS);
  const totals = breakdown.totals.find((each) => each.currency === currency);
  const buckets = bucketsOfPeriod(result);
  const groupSeries = groups.map(
    (group, index): ChartSeries => ({
      key: keyOf(group, columns),
      name: nameOf(group, columns),
      color: index + 1,
      values: buckets.map(({ position }) => exact(group.amounts?.[position] ?? "0")),
    }),
  );
  const rest = buckets.map(({ position }, index) =>
    groupSeries.reduce(
      (left, { values }) => minus(left, values[index] ?? zero),
      exact(totals?.amounts?.[position] ?? "0"),
    ),
  );
  const others = (totals?.group_count ?? 0) - groups.length;
  const series =
    others > 0 ? [...groupSeries, { key: "", name: en.other(others), color: 0, values: rest }] : groupSeries;
  const pick =
    onPick &&
    (({ key }: ChartSeries) => {
      const group = groups.find((each) => keyOf(each, columns) === key);
      if (group !== undefined) onPick(group);
    });
  return <Chart {...{ title, buckets, bucketName, series, currency, kind }} onPick={pick} />;
}

/** All buckets of the period, each with its position in the response (-1 if the response leaves it out). */
function bucketsOfPeriod({ breakdown, request, comparison }: BreakdownResult): ChartBucket[] {
  const positions = new Map(breakdown.time_buckets.map((label, position) => [label, position]));
  const all = bucketsOf(request.period, request.timeBucket ?? "");
  const known = new Set(all?.map(({ label }) => label));
  if (all === undefined || !breakdown.time_buckets.every((label) => known.has(label)))
    return breakdown.time_buckets.map((label, position) => ({ label, position, note: undefined }));
  const { missing } = comparison ?? {};
  const arrived =
    missing === undefined
      ? all
      : bucketsOf({ ...request.period, last: addDays(missing.first, -1) }, request.timeBucket ?? "");
  const shown = new Map(arrived?.map((bucket) => [bucket.label, bucket.shownDays]));
  return all.map(({ label, days }) => {
    const shownDays = shown.get(label) ?? days;
    return {
      label,
      position: positions.get(label) ?? -1,
      note: shownDays < days ? en.chart.partial(shownDays, days) : undefined,
    };
  });
}

/**
 * `3 Nov` or `3 Nov 14:00`; with the year `3 Nov 2026` or `3 Nov 2026, 14:00 UTC`. Weeks and months keep the API's
 * labels.
 */
function bucketName(bucket: string, withYear = false): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}):00Z)?$/.exec(bucket) ?? [];
  if (day === undefined) return bucket;
  if (time === undefined) return shownDay(day, withYear);
  return withYear ? shownInstant(bucket) : `${shownDay(day, false)} ${time}`;
}

export function keyOf(group: BreakdownRow, columns: readonly string[]): string {
  return JSON.stringify([group.currency, ...columns.map((column) => group.dimensions[column])]);
}

export function nameOf(group: BreakdownRow, columns: readonly string[]): string {
  return columns
    .map((column) => group.display_names[column] ?? group.dimensions[column] ?? "")
    .map((name) => (name === "" ? en.unnamed : name))
    .join(" · ");
}
