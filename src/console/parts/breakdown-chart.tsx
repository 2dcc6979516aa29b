import type { Breakdown, Group } from "../api/breakdown.js";
import { decimal, minus, zero } from "../money/decimal.js";
import { shownDay } from "../state/days.js";
import { en } from "../text/en.js";
import { Chart, type Series } from "./chart.js";

interface BreakdownChartProps {
  readonly title: string;
  readonly found: Breakdown;
  readonly currency: string;
  readonly columns: readonly string[];
  readonly kind?: "bars" | "area";
  /** The group that was clicked. */
  readonly onPick?: ((group: Group) => void) | undefined;
}

/** Colours of the style sheet. */
const COLORS = 10;

/** The groups of one currency over time, largest below; what is not among them on top, in grey. */
export function BreakdownChart({
  title,
  found,
  currency,
  columns,
  kind = "bars",
  onPick,
}: BreakdownChartProps) {
  const groups = found.groups.filter((group) => group.currency === currency).slice(0, COLORS);
  const totals = found.totals.find((each) => each.currency === currency);
  const buckets = found.time_buckets;
  const ofGroups = groups.map(
    (group, index): Series => ({
      key: keyOf(group, columns),
      name: nameOf(group, columns),
      color: index + 1,
      values: (group.amounts ?? []).map(decimal),
    }),
  );
  const rest = (totals?.amounts ?? []).map((total, index) =>
    ofGroups.reduce((left, { values }) => minus(left, values[index] ?? zero), decimal(total)),
  );
  const others = (totals?.group_count ?? 0) - groups.length;
  const series =
    others > 0 ? [...ofGroups, { key: "", name: en.other(others), color: 0, values: rest }] : ofGroups;
  const pick =
    onPick &&
    (({ key }: Series) => {
      const group = groups.find((each) => keyOf(each, columns) === key);
      if (group !== undefined) onPick(group);
    });
  return <Chart {...{ title, buckets, bucketName, series, currency, kind }} onPick={pick} />;
}

/** `3 Nov`, `3 Nov 14:00`. */
function bucketName(bucket: string): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}):00Z)?$/.exec(bucket) ?? [];
  if (day === undefined) return bucket;
  return time === undefined ? shownDay(day, false) : `${shownDay(day, false)} ${time}`;
}

export function keyOf(group: Group, columns: readonly string[]): string {
  return JSON.stringify([group.currency, ...columns.map((column) => group.dimensions[column])]);
}

export function nameOf(group: Group, columns: readonly string[]): string {
  return columns
    .map((column) => group.display_names[column] ?? group.dimensions[column] ?? "")
    .map((name) => (name === "" ? en.unnamed : name))
    .join(" · ");
}
