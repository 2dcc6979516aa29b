/**
 * Usage facts of one metric: how much each owner used of each billed resource in each step. Answers are added up one at a
 * time, so that memory holds one answer and a batch of facts.
 *
 * A sample of 0 is no usage, but says that somebody was there: whoever has nothing else on a day gets one fact of 0 at its
 * start. One a day and not one a step, because that is all a set needs; and after the last answer, so that it does not
 * depend on how the answers were cut.
 */
import { UNALLOCATED } from "../../../../config/allocation-rule.js";
import { dayOfSeconds } from "../../../../time/days.js";
import type { DayWindow, UsageFact, UsageGap, WindowSink } from "../../../ecosystem.js";
import { type Exact, roundedQuotient } from "../../../exact.js";
import type {
  Divisible,
  DropReason,
  PrometheusSource,
  RangePiece,
  RangeQuery,
} from "../../../prometheus/source.js";
import { UpstreamError } from "../../../upstream-http/upstream-error.js";

export type Labels = Readonly<Record<string, string>>;
export type UsageDropped = (reason: DropReason | "without_identity") => void;

export interface Measurement {
  readonly metric: string;
  readonly expression: string;
  /** The wanted resources, and the expression for some of them. */
  readonly among: Divisible;
  readonly window: DayWindow;
  readonly stepSeconds: number;
  readonly onAnswer?: RangeQuery["onAnswer"];
  /** Day → resources that are measured on it. What is measured of others is passed over. */
  readonly wanted: ReadonlyMap<string, ReadonlySet<string>>;
  readonly resourceLabel: string;
  /** Who used it in the step from a time on; null when the series names nobody, undefined when nobody knows the owner. */
  ownerOf(labels: Labels, from: number): string | null | undefined;
  /** Whether a sample of 0 says that somebody was there. */
  readonly keepsZeros: boolean;
  /** Called for each day and resource that somebody used. */
  readonly onUsed?: (day: string, resource: string) => void;
}

const BATCH = 10_000;
const MICRO = 6;
/** 10^24 of a unit: beyond it a sample is broken, and a split in 128-bit integers could overflow. */
const LARGEST_MICRO_UNITS = 10n ** 30n;

/** Sends facts to the sink. What fails becomes a gap of its resource and day: the bill does not depend on it. Returns the gaps. */
export async function measure(
  source: PrometheusSource,
  measurement: Measurement,
  sink: Pick<WindowSink, "usage">,
  dropped: UsageDropped,
  signal: AbortSignal,
): Promise<UsageGap[]> {
  const { metric, wanted } = measurement;
  const gaps: Gaps = new Map();
  const seen: Seen = new Map();
  try {
    for await (const piece of source.range(measurement, dropped, signal)) {
      if (piece.kind === "failed") {
        noteGaps(gaps, wanted, piece);
        continue;
      }
      const used = usedIn(measurement, piece, dropped);
      for (const batch of batched(factsOf(measurement, used, seen, gaps))) await sink.usage(batch);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    noteGaps(gaps, wanted, { days: [...wanted.keys()], reason: error.message });
  }
  if (measurement.keepsZeros) {
    for (const batch of batched(zerosOf(metric, seen))) await sink.usage(batch);
  }
  return [...gaps].flatMap(([day, resources]) =>
    [...resources].map(([resource_id, reason]) => ({ day, metric, resource_id, reason })),
  );
}

/** Day → resource → why it could not be measured. */
type Gaps = Map<string, Map<string, string>>;

/** Of all wanted resources where none are named. */
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

/** Resource → owner → start of the step → micro-units. */
type Used = Map<string, Map<string, Map<number, bigint>>>;
/** Day → resource → owner → whether anything was used. */
type Seen = Map<string, Map<string, Map<string, boolean>>>;

type SamplesPiece = Extract<RangePiece, { kind: "samples" }>;

function usedIn(measurement: Measurement, piece: SamplesPiece, dropped: UsageDropped): Used {
  const used: Used = new Map();
  piece.each((labels, from, value) => {
    const resource = labels[measurement.resourceLabel] ?? "";
    if (!measurement.wanted.get(dayOf(from))?.has(resource)) return;
    const owner = measurement.ownerOf(labels, from);
    if (owner === null) return dropped("without_identity");
    add(used, { resource, owner: owner ?? UNALLOCATED, from }, value);
  });
  return used;
}

function add(used: Used, at: { resource: string; owner: string; from: number }, value: Exact): void {
  const steps = entry(
    entry(used, at.resource, () => new Map()),
    at.owner,
    () => new Map<number, bigint>(),
  );
  steps.set(at.from, (steps.get(at.from) ?? 0n) + roundedQuotient(value, 1n, MICRO));
}

function* factsOf({ metric, onUsed }: Measurement, used: Used, seen: Seen, gaps: Gaps): Generator<UsageFact> {
  for (const [resource_id, owners] of used) {
    for (const [identity_id, steps] of owners) {
      for (const [from, amount] of steps) {
        const day = dayOf(from);
        const resources = entry(seen, day, () => new Map<string, Map<string, boolean>>());
        const known = entry(resources, resource_id, () => new Map<string, boolean>());
        if (amount > LARGEST_MICRO_UNITS) {
          entry(gaps, day, () => new Map<string, string>()).set(
            resource_id,
            "a sample is too large to be a usage",
          );
          continue;
        }
        if (amount === 0n) {
          if (!known.has(identity_id)) known.set(identity_id, false);
          continue;
        }
        known.set(identity_id, true);
        onUsed?.(day, resource_id);
        yield { timestamp: isoTime(from), metric, resource_id, identity_id, micro_units: amount.toString() };
      }
    }
  }
}

function* zerosOf(metric: string, seen: Seen): Generator<UsageFact> {
  for (const [day, resources] of seen) {
    for (const [resource_id, owners] of resources) {
      for (const [identity_id, isUsed] of owners) {
        if (isUsed) continue;
        yield { timestamp: `${day}T00:00:00Z`, metric, resource_id, identity_id, micro_units: "0" };
      }
    }
  }
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

/** Of a few hundred steps each is asked for again and again. */
const days = new Map<number, string>();
const times = new Map<number, string>();
const MOST_CACHED = 20_000;

function dayOf(from: number): string {
  return cached(days, from, dayOfSeconds);
}

function isoTime(from: number): string {
  return cached(times, from, (seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
}

function cached(cache: Map<number, string>, seconds: number, make: (seconds: number) => string): string {
  const known = cache.get(seconds);
  if (known !== undefined) return known;
  if (cache.size > MOST_CACHED) cache.clear();
  const made = make(seconds);
  cache.set(seconds, made);
  return made;
}
