import type { Group } from "../api/breakdown.js";
import type { Answer } from "../api/comparison.js";
import { decimal, minus, zero } from "../money/decimal.js";
import { bucketsOf } from "../state/buckets.js";
import { shifted, shownDay, shownInstant } from "../state/days.js";
import { en } from "../text/en.js";
import { type Bucket, Chart, type Series } from "./chart.js";

interface BreakdownChartProps {
  readonly title: string;
  readonly answer: Answer;
  readonly currency: string;
  readonly kind?: "bars" | "area";
  /** The group that was clicked. */
  readonly onPick?: ((group: Group) => void) | undefined;
}

/** Colours of the style sheet. */
const COLORS = 10;

/** The groups of one currency over time, largest below; what is not among them on top, in grey. */
export function BreakdownChart({ title, answer, currency, kind = "bars", onPick }: BreakdownChartProps) {
  const { found, question } = answer;
  const columns = question.groupBy;
  const groups = found.groups.filter((group) => group.currency === currency).slice(0, COLORS);
  const totals = found.totals.find((each) => each.currency === currency);
  const buckets = wholeTime(answer);
  const ofGroups = groups.map(
    (group, index): Series => ({
      key: keyOf(group, columns),
      name: nameOf(group, columns),
      color: index + 1,
      values: buckets.map(({ at }) => decimal(group.amounts?.[at] ?? "0")),
    }),
  );
  const rest = buckets.map(({ at }, index) =>
    ofGroups.reduce(
      (left, { values }) => minus(left, values[index] ?? zero),
      decimal(totals?.amounts?.[at] ?? "0"),
    ),
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

/** The buckets of the whole period, each with its place in the answer; where nothing is charged there is a gap. */
function wholeTime({ found, question, comparison }: Answer): Bucket[] {
  const places = new Map(found.time_buckets.map((label, at) => [label, at]));
  const all = bucketsOf(question.period, question.timeBucket ?? "");
  const known = new Set(all?.map(({ label }) => label));
  if (all === undefined || !found.time_buckets.every((label) => known.has(label)))
    return found.time_buckets.map((label, at) => ({ label, at, note: undefined }));
  const { missing } = comparison ?? {};
  const arrived =
    missing === undefined
      ? all
      : bucketsOf({ ...question.period, last: shifted(missing.first, -1) }, question.timeBucket ?? "");
  const shown = new Map(arrived?.map((bucket) => [bucket.label, bucket.shown]));
  return all.map(({ label, days }) => {
    const has = shown.get(label) ?? days;
    return {
      label,
      at: places.get(label) ?? -1,
      note: has < days ? en.chart.partial(has, days) : undefined,
    };
  });
}

/** `3 Nov`, `3 Nov 14:00`; with the year `3 Nov 2026`, `3 Nov 2026, 14:00 UTC`. Weeks and months as the API names them. */
function bucketName(bucket: string, withYear = false): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}):00Z)?$/.exec(bucket) ?? [];
  if (day === undefined) return bucket;
  if (time === undefined) return shownDay(day, withYear);
  return withYear ? shownInstant(bucket) : `${shownDay(day, false)} ${time}`;
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
