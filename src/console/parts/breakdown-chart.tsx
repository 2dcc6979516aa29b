import { exact, minus, zero } from "../../common/exact-decimal.js";
import { type BreakdownRequest, type Group, isUnallocated, listed, type Totals } from "../api/breakdown.js";
import type { CostEvent } from "../api/comparison.js";
import { bucketsOf } from "../state/buckets.js";
import { colorsOf, OTHERS_COLOR, UNALLOCATED_COLOR } from "../state/colors.js";
import { shownDay, shownInstant } from "../state/days.js";
import type { Place } from "../state/location.js";
import { en } from "../text/en.js";
import { Chart } from "./chart.js";
import { hasMarks, latestMarks, MarkList, marksOf } from "./chart-marks.js";
import type { ChartBucket, ChartSeries } from "./chart-tip.js";

/** Groups over time with their request: of chargebacks or of topics. */
export interface ChartedResult<Row extends Group> {
  readonly breakdown: {
    readonly time_buckets: readonly string[];
    readonly groups: readonly Row[];
    readonly others: readonly { readonly currency: string }[];
    readonly totals: readonly Pick<Totals, "currency" | "group_count" | "amounts">[];
  };
  readonly request: Pick<BreakdownRequest, "tenant" | "period" | "groupBy" | "timeBucket">;
  /** Days whose costs are there; undefined if unknown. */
  readonly coveredDays: ReadonlySet<string> | undefined;
  readonly events?: readonly CostEvent[];
}

interface BreakdownChartProps<Row extends Group> {
  readonly place: Place;
  readonly title: string;
  readonly result: ChartedResult<Row>;
  readonly currency: string;
  readonly kind?: "bars" | "area";
  /** Address that the group's bars and its entry in the legend lead to. */
  readonly hrefOf?: ((group: Row) => string | undefined) | undefined;
  /** Address with a row for each of the groups that are not in the response. */
  readonly othersHref?: string | undefined;
}

/** More groups than this are one series, unless there is only one more. */
const MAX_SERIES = 10;

/** The groups that have a series of their own: the first ones, and what is unallocated. */
function charted<Row extends Group>(result: ChartedResult<Row>, currency: string): Row[] {
  const { groups, unallocated } = listed(result.breakdown, currency);
  const shown = groups.length === MAX_SERIES + 1 ? groups : groups.slice(0, MAX_SERIES);
  return unallocated === undefined ? shown : [...shown, unallocated];
}

/** Colours of the groups that have a series, by `keyOf`. */
export function chartColors(result: ChartedResult<Group>, currency: string): ReadonlyMap<string, string> {
  const { tenant, groupBy } = result.request;
  const groups = charted(result, currency);
  const nameless = (group: Group) => JSON.stringify(group.dimensions);
  const colors = colorsOf(tenant, groups.filter((group) => !isUnallocated(group)).map(nameless));
  return new Map(
    groups.map((group) => [keyOf(group, groupBy), colors.get(nameless(group)) ?? UNALLOCATED_COLOR]),
  );
}

/** Groups of one currency over time: the first is at the bottom, then all others in grey, then what is unallocated. */
export function BreakdownChart<Row extends Group>({
  place,
  title,
  result,
  currency,
  kind = "bars",
  hrefOf,
  othersHref,
}: BreakdownChartProps<Row>) {
  const { breakdown, request } = result;
  const columns = request.groupBy;
  const groups = charted(result, currency);
  const colors = chartColors(result, currency);
  const totals = breakdown.totals.find((each) => each.currency === currency);
  const buckets = bucketsOfPeriod(result);
  const groupSeries = groups.map(
    (group): ChartSeries => ({
      key: keyOf(group, columns),
      name: nameOf(group, columns),
      color: colors.get(keyOf(group, columns)) ?? OTHERS_COLOR,
      href: hrefOf?.(group),
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
  const otherSeries: ChartSeries = {
    key: "",
    name: en.other(others),
    color: OTHERS_COLOR,
    values: rest,
    href: othersHref,
  };
  const isLast = ({ key }: ChartSeries) =>
    groups.some((group) => isUnallocated(group) && keyOf(group, columns) === key);
  const series = [
    ...groupSeries.filter((each) => !isLast(each)),
    ...(others > 0 ? [otherSeries] : []),
    ...groupSeries.filter(isLast),
  ];
  const marks = marksOf(result.events ?? [], buckets, request.timeBucket ?? "");
  return (
    <>
      <Chart
        {...{ title, buckets, bucketName, series, currency, kind }}
        marks={hasMarks(place) ? latestMarks(marks) : []}
      />
      <MarkList place={place} marks={marks} />
    </>
  );
}

/** All buckets of the period, each with its position in the response (-1 if the response leaves it out). */
export function bucketsOfPeriod({ breakdown, request, coveredDays }: ChartedResult<Group>): ChartBucket[] {
  const positions = new Map(breakdown.time_buckets.map((label, position) => [label, position]));
  const all = bucketsOf(request.period, request.timeBucket ?? "", coveredDays);
  const known = new Set(all?.map(({ label }) => label));
  if (all === undefined || !breakdown.time_buckets.every((label) => known.has(label)))
    return breakdown.time_buckets.map((label, position) => ({ label, position, note: undefined }));
  return all.map(({ label, days, shownDays }) => ({
    label,
    position: positions.get(label) ?? -1,
    note: days > 1 && shownDays < days ? en.chart.partial(shownDays, days) : undefined,
  }));
}

/**
 * `3 Nov` or `3 Nov 14:00`; with the year `3 Nov 2026` or `3 Nov 2026, 14:00 UTC`. Weeks and months keep the API's
 * labels.
 */
export function bucketName(bucket: string, withYear = false): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}):00Z)?$/.exec(bucket) ?? [];
  if (day === undefined) return bucket;
  if (time === undefined) return shownDay(day, withYear);
  return withYear ? shownInstant(bucket) : `${shownDay(day, false)} ${time}`;
}

export function keyOf(group: Group, columns: readonly string[]): string {
  return JSON.stringify([group.currency, ...columns.map((column) => group.dimensions[column])]);
}

export function nameOf(group: Group, columns: readonly string[]): string {
  if (isUnallocated(group)) return columns[0] === "topic_name" ? en.topics.none : en.overview.unallocated;
  return columns
    .map((column) => group.display_names[column] ?? group.dimensions[column] ?? "")
    .map((name) => (name === "" ? en.unnamed : name))
    .join(" · ");
}
