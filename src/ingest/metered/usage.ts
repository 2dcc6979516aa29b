/**
 * Usage facts of one query: the usage of each identity in each step. Several series of an identity are added up, one
 * response at a time, so that memory holds one response and its sums. Usage of a series without the identity's label
 * belongs to no known identity. It counts as a weight of `UNALLOCATED`, so that the others do not pay for it. A series
 * that only shows who was active means nothing without the label.
 */
import { type DayRange, dayOfSeconds, daysOfWindow } from "../../common/days.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { UsageGap, UsageSeries, WindowSink } from "../ecosystem.js";
import { isTooLarge } from "../micro-units.js";
import type { PrometheusSource, RangePiece, RangeQuery } from "../prometheus/source.js";
import type { DropReason } from "../prometheus/visit-samples.js";
import { addAmount, inWholeUnits, noAmounts, type StepAmounts } from "../usage-series.js";
import { partlyMeasured } from "./partly-measured.js";

export interface UsageMetric {
  readonly metric: string;
  readonly expression: string;
  /** The label with the identity. */
  readonly label: string;
  /** `seen`: 1 for each step with a sample, whatever its value, so that a fluctuating value changes nothing. */
  readonly measure: "value" | "seen";
  /** The identity of a value of the label, if it is not the value itself. Undefined: of no known identity. */
  readonly identityOf?: (value: string) => string | undefined;
}

/** The resource of the usage: a fixed one, or the one that a label names. */
export type UsageOf = { readonly resource: string } | { readonly label: string };

export interface UsageQuery extends UsageMetric {
  readonly of: UsageOf;
  /** `dropped`: series of no known identity are ignored. Default: their usage is that of `UNALLOCATED`. */
  readonly unnamed?: "dropped";
  readonly window: DayRange;
  readonly stepSeconds: number;
  readonly onResponse?: RangeQuery["onResponse"];
  /** Called if the upstream refuses the credentials, with its message. */
  readonly onRefused?: (reason: string) => void;
}

export type MeteredUsageDropped = (reason: DropReason | "without_identity" | "without_resource") => void;

/** Resource of a gap that concerns all resources, because the failed response would have named them. */
export const EVERY_RESOURCE = "";

/** One unit, in micro-units. */
const ONE = 1_000_000;

/**
 * Sends facts to the sink, and returns the gaps. A failure becomes a gap of its days, because the bill does not depend
 * on it.
 */
export async function gatherMeteredUsage(
  source: PrometheusSource,
  query: UsageQuery,
  sink: Pick<WindowSink, "usageSeries">,
  dropped: MeteredUsageDropped,
  signal: AbortSignal,
): Promise<UsageGap[]> {
  const { metric, of } = query;
  const everywhere = "resource" in of ? of.resource : EVERY_RESOURCE;
  const gaps = new Map<string, UsageGap>();
  const note: NoteGap = (day, reason, resource_id = everywhere) =>
    void gaps.set(JSON.stringify([day, resource_id]), { day, metric, resource_id, reason });
  const steps = new Set<number>();
  try {
    for await (const piece of source.range(query, dropped, signal)) {
      if (piece.kind === "failed") {
        for (const day of piece.days) note(day, piece.reason);
        continue;
      }
      const series = seriesOf(query, piece, note, dropped);
      for (const { starts } of series) for (const start of starts) steps.add(start);
      await sink.usageSeries(series);
    }
    // An identity that is seen for an hour was active, but the usage of an hour is not that of a day.
    if (query.measure === "value") {
      const failed = new Set([...gaps.values()].map(({ day }) => day));
      const { gaps: partly } = await partlyMeasured(source, query, steps, signal);
      for (const [day, reason] of partly) if (!failed.has(day)) note(day, reason);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    if (error.code === "unauthorized") query.onRefused?.(error.message);
    for (const day of daysOfWindow(query.window)) note(day, error.message);
  }
  return [...gaps.values()];
}

type SamplesPiece = Extract<RangePiece, { kind: "samples" }>;
type NoteGap = (day: string, reason: string, resource?: string) => void;

function seriesOf(
  query: UsageQuery,
  piece: SamplesPiece,
  note: NoteGap,
  dropped: MeteredUsageDropped,
): UsageSeries[] {
  const { metric } = query;
  const series = usedBy(query, piece, dropped).flatMap(({ resource_id, identity_id, amounts }) => {
    const fitting = withoutTooLarge(amounts, (day) =>
      note(day, "a sample is too large to be a usage", resource_id),
    );
    return fitting.starts.length === 0 ? [] : [{ metric, resource_id, identity_id, ...fitting }];
  });
  return inWholeUnits(series);
}

function withoutTooLarge(all: StepAmounts, tooLarge: (day: string) => void): StepAmounts {
  if (!all.amounts.some(isTooLarge)) return all;
  const fitting = noAmounts();
  for (const [at, start] of all.starts.entries()) {
    const amount = all.amounts[at] ?? 0;
    if (isTooLarge(amount)) tooLarge(dayOfSeconds(start));
    else addAmount(fitting, start, amount);
  }
  return fitting;
}

interface Used {
  readonly resource_id: string;
  readonly identity_id: string;
  readonly amounts: StepAmounts;
}

function usedBy(
  { of, label, measure, unnamed, identityOf = (value) => value }: UsageQuery,
  piece: SamplesPiece,
  dropped: MeteredUsageDropped,
): Used[] {
  const used = new Map<string, Used>();
  piece.eachSeries((labels) => {
    const resource_id = "resource" in of ? of.resource : (labels[of.label] ?? "");
    const labelled = labels[label] ?? "";
    const named = labelled === "" ? "" : (identityOf(labelled) ?? "");
    if (resource_id === "") return () => dropped("without_resource");
    if (named === "" && (measure === "seen" || unnamed === "dropped"))
      return () => dropped("without_identity");
    const identity_id = named === "" ? UNALLOCATED : named;
    const key = JSON.stringify([resource_id, identity_id]);
    const { amounts } = used.get(key) ?? { amounts: noAmounts() };
    used.set(key, { resource_id, identity_id, amounts });
    if (measure === "value") return (from, value) => addAmount(amounts, from, value);
    return (from) => addAmount(amounts, from, ONE, () => ONE);
  });
  return [...used.values()];
}
