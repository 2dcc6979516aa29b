/**
 * Usage facts of one metric: the usage of each billed resource by each owner in each step. Responses are added up one
 * at a time, so that memory holds one response and a batch of facts.
 *
 * A sample of 0 is no usage, but shows that an owner was active: an owner without any other usage on a day gets one
 * fact of 0 at its start. It is one fact a day and not one a step, because a set needs no more, and it is sent after
 * the last response, so that it does not depend on how the responses were split.
 */
import { DAY_SECONDS, type DayRange, dayOfSeconds, midnightSeconds } from "../../../../common/days.js";
import { UNALLOCATED } from "../../../../domain/allocation-rule.js";
import { UpstreamError } from "../../../../upstream/http/upstream-error.js";
import type { UsageFact, UsageGap, UsageSeries, WindowSink } from "../../../ecosystem.js";
import { isTooLarge } from "../../../micro-units.js";
import type { Divisible, PrometheusSource, RangePiece, RangeQuery } from "../../../prometheus/source.js";
import type { DropReason, Labels } from "../../../prometheus/visit-samples.js";
import {
  addAmount,
  inWholeUnits,
  type MeasuredSeries,
  noAmounts,
  type StepAmounts,
} from "../../../usage-series.js";

export type ConfluentUsageDropped = (reason: DropReason | "without_identity") => void;

/**
 * Returns the owner of the step that begins at `from`. Null if the series names no identity, undefined if its owner is
 * unknown.
 */
export type OwnerOfStep = (from: number) => string | null | undefined;

export interface Measurement {
  readonly metric: string;
  readonly expression: string;
  /** The wanted resources, and the expression for some of them. */
  readonly among: Divisible;
  readonly window: DayRange;
  readonly stepSeconds: number;
  readonly onResponse?: RangeQuery["onResponse"];
  /** Day → resources that are measured on it. Usage of other resources is ignored. */
  readonly wanted: ReadonlyMap<string, ReadonlySet<string>>;
  readonly resourceLabel: string;
  /** Finds the owner. Called once for each series. */
  ownerOf(labels: Labels): OwnerOfStep;
  /**
   * How to treat series without an identity. `nobodys`: their usage counts as a weight of `UNALLOCATED`, so that the
   * others do not pay for it. `beside_others`: the same, but only on days and resources with usage of a known identity;
   * without any, another metric is tried.
   */
  readonly unnamed: "nobodys" | "beside_others" | "dropped";
  /** Whether a sample of 0 shows that an identity was active. */
  readonly keepsZeros: boolean;
  /** Called for each day and resource that a known identity used. */
  readonly onUsed?: (day: string, resource: string) => void;
}

const BATCH = 10_000;

/**
 * Sends facts to the sink, and returns the gaps. A failure becomes a gap of its resource and day, because the bill does
 * not depend on it.
 */
export async function measure(
  source: PrometheusSource,
  measurement: Measurement,
  sink: Pick<WindowSink, "usageSeries">,
  dropped: ConfluentUsageDropped,
  signal: AbortSignal,
): Promise<UsageGap[]> {
  const { metric, wanted } = measurement;
  const gaps: Gaps = new Map();
  const activity: Activity = new Map();
  const unnamed: Unnamed = new Map();
  try {
    for await (const piece of source.range(measurement, dropped, signal)) {
      if (piece.kind === "failed") {
        noteGaps(gaps, wanted, piece);
        continue;
      }
      const used = usedIn(measurement, piece, unnamed, dropped);
      await sink.usageSeries(seriesOf(measurement, used, activity, gaps));
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    noteGaps(gaps, wanted, { days: [...wanted.keys()], reason: error.message });
  }
  await sink.usageSeries(seriesOf(measurement, unnamedIn(measurement, unnamed, activity), activity, gaps));
  if (measurement.keepsZeros) {
    await sink.usageSeries(zerosOf(metric, activity));
  }
  return [...gaps].flatMap(([day, resources]) =>
    [...resources].map(([resource_id, reason]) => ({ day, metric, resource_id, reason })),
  );
}

/** Day → resource → why it could not be measured. */
type Gaps = Map<string, Map<string, string>>;

/** Adds a gap for the named resources, or for all wanted resources if none are named. */
function noteGaps(
  gaps: Gaps,
  wanted: Measurement["wanted"],
  {
    days,
    resources,
    reason,
  }: Omit<Extract<RangePiece, { kind: "failed" }>, "kind" | "resources"> & {
    readonly resources?: readonly string[] | undefined;
  },
): void {
  const named = resources && new Set(resources);
  for (const day of days) {
    for (const resource of wanted.get(day) ?? []) {
      if (named?.has(resource) === false) continue;
      entry(gaps, day, () => new Map<string, string>()).set(resource, reason);
    }
  }
}

/** Resource → owner → usage in each step. */
type Used = Map<string, Map<string, StepAmounts>>;
/**
 * Resource → usage of series without an identity. It is held until the end, so that it does not depend on how responses
 * are split whether it counts.
 */
type Unnamed = Map<string, StepAmounts>;
/** Day → resource → owner → whether the owner used anything. */
type Activity = Map<string, Map<string, Map<string, boolean>>>;

type SamplesPiece = Extract<RangePiece, { kind: "samples" }>;

function usedIn(
  { wanted, resourceLabel, ownerOf, unnamed: kept }: Measurement,
  piece: SamplesPiece,
  unnamed: Unnamed,
  dropped: ConfluentUsageDropped,
): Used {
  const used: Used = new Map();
  piece.eachSeries((labels) => {
    const resource = labels[resourceLabel] ?? "";
    const ownerOfStep = ownerOf(labels);
    const ofResource = entry(used, resource, () => new Map<string, StepAmounts>());
    // State of the previous sample, which nearly every sample shares.
    let day = Number.NaN;
    let isWanted = false;
    let owner: string | undefined;
    let amounts: StepAmounts | undefined;
    return (from, value) => {
      const start = from - (from % DAY_SECONDS);
      if (start !== day) {
        day = start;
        isWanted = wanted.get(dayOfSeconds(start))?.has(resource) ?? false;
      }
      if (!isWanted) return;
      const found = ownerOfStep(from);
      if (found === null) {
        if (kept === "dropped") dropped("without_identity");
        else addAmount(entry(unnamed, resource, noAmounts), from, value);
        return;
      }
      if (amounts === undefined || found !== owner) {
        owner = found;
        amounts = entry(ofResource, found ?? UNALLOCATED, noAmounts);
      }
      addAmount(amounts, from, value);
    };
  });
  return used;
}

function unnamedIn({ unnamed: kept }: Measurement, unnamed: Unnamed, activity: Activity): Used {
  const counts = (resource: string, start: number) =>
    kept === "nobodys" ||
    [...(activity.get(dayOfSeconds(start))?.get(resource)?.values() ?? [])].includes(true);
  return new Map(
    [...unnamed].map(([resource, { starts, amounts }]) => {
      const counted = noAmounts();
      for (const [at, start] of starts.entries()) {
        const amount = amounts[at] ?? 0;
        if (amount !== 0 && counts(resource, start)) addAmount(counted, start, amount);
      }
      return [resource, new Map([[UNALLOCATED, counted]])];
    }),
  );
}

function seriesOf(
  { metric, onUsed }: Measurement,
  used: Used,
  activity: Activity,
  gaps: Gaps,
): UsageSeries[] {
  const series: MeasuredSeries[] = [];
  for (const [resource_id, owners] of used) {
    for (const [identity_id, { starts, amounts }] of owners) {
      const counted = noAmounts();
      let of = "";
      let known = new Map<string, boolean>();
      for (let at = 0; at < starts.length; at += 1) {
        const start = starts[at] ?? Number.NaN;
        const amount = amounts[at] ?? 0;
        const day = dayOfSeconds(start);
        if (day !== of) {
          of = day;
          const resources = entry(activity, day, () => new Map<string, Map<string, boolean>>());
          known = entry(resources, resource_id, () => new Map<string, boolean>());
        }
        if (isTooLarge(amount)) {
          entry(gaps, day, () => new Map<string, string>()).set(
            resource_id,
            "a sample is too large to be a usage",
          );
          continue;
        }
        if (amount === 0) {
          if (!known.has(identity_id)) known.set(identity_id, false);
          continue;
        }
        if (known.get(identity_id) !== true) {
          known.set(identity_id, true);
          onUsed?.(day, resource_id);
        }
        counted.starts.push(start);
        counted.amounts.push(amount);
      }
      if (counted.starts.length > 0) series.push({ metric, resource_id, identity_id, ...counted });
    }
  }
  return inWholeUnits(series);
}

function zerosOf(metric: string, activity: Activity): UsageSeries[] {
  return [...activity].flatMap(([day, resources]) =>
    [...resources].flatMap(([resource_id, owners]) =>
      [...owners].flatMap(([identity_id, isUsed]) =>
        isUsed
          ? []
          : [{ metric, resource_id, identity_id, scale: 0, starts: [midnightSeconds(day)], microUnits: [0] }],
      ),
    ),
  );
}

export function* batched(facts: Iterable<UsageFact>): Generator<UsageFact[]> {
  let batch: UsageFact[] = [];
  for (const fact of facts) {
    batch.push(fact);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
