/**
 * Usage facts of one query: how much each identity used in each step. Several series of an identity are added up, one
 * answer at a time, so that memory holds one answer and a batch of facts.
 */
import { dayOfSeconds, daysOfWindow } from "../../time/days.js";
import type { DayWindow, UsageFact, UsageGap, WindowSink } from "../ecosystem.js";
import { roundedQuotient } from "../exact.js";
import type { DropReason, PrometheusSource, RangePiece } from "../prometheus/source.js";
import { UpstreamError } from "../upstream-http/upstream-error.js";

export interface UsageMetric {
  readonly metric: string;
  readonly expression: string;
  /** Label that holds the identity. */
  readonly label: string;
  /** `seen`: 1 for each step with a sample, whatever its value; so a wobbling value changes nothing. */
  readonly measure: "value" | "seen";
}

export interface UsageQuery extends UsageMetric {
  readonly resourceId: string;
  readonly window: DayWindow;
  readonly stepSeconds: number;
}

export type UsageDropped = (reason: DropReason | "without_identity") => void;

const BATCH = 10_000;
const MICRO = 6;
const ONE = 10n ** BigInt(MICRO);
/** 10^24 of a unit, a septillion: beyond it a sample is broken, and a split of 128-bit integers could overflow. */
const LARGEST_MICRO_UNITS = 10n ** 30n;

/** Sends facts to the sink. What fails becomes a gap of its days: the bill does not depend on it. Returns the gaps. */
export async function gatherUsage(
  source: PrometheusSource,
  query: UsageQuery,
  sink: WindowSink,
  dropped: UsageDropped,
  signal: AbortSignal,
): Promise<UsageGap[]> {
  const { metric, resourceId: resource_id } = query;
  const gaps = new Map<string, string>();
  try {
    for await (const piece of source.range(query, dropped, signal)) {
      if (piece.kind === "failed") for (const day of piece.days) gaps.set(day, piece.reason);
      else for (const batch of batchesOf(query, piece, gaps, dropped)) await sink.usage(batch);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    for (const day of daysOfWindow(query.window)) gaps.set(day, error.message);
  }
  return [...gaps].map(([day, reason]) => ({ day, metric, resource_id, reason }));
}

type SamplesPiece = Extract<RangePiece, { kind: "samples" }>;

function* batchesOf(
  query: UsageQuery,
  piece: SamplesPiece,
  gaps: Map<string, string>,
  dropped: UsageDropped,
): Generator<UsageFact[]> {
  let batch: UsageFact[] = [];
  for (const [identity_id, steps] of usedBy(query, piece, dropped)) {
    for (const [from, used] of steps) {
      if (used > LARGEST_MICRO_UNITS) {
        gaps.set(dayOfSeconds(from), "a sample is too large to be a usage");
        continue;
      }
      const { metric, resourceId: resource_id } = query;
      batch.push({
        timestamp: isoTime(from),
        metric,
        resource_id,
        identity_id,
        micro_units: used.toString(),
      });
      if (batch.length === BATCH) {
        yield batch;
        batch = [];
      }
    }
  }
  if (batch.length > 0) yield batch;
}

function usedBy({ label, measure }: UsageQuery, piece: SamplesPiece, dropped: UsageDropped) {
  const used = new Map<string, Map<number, bigint>>();
  piece.each((labels, from, value) => {
    const identity = labels[label];
    if (identity === undefined || identity === "") {
      dropped("without_identity");
      return;
    }
    let steps = used.get(identity);
    if (steps === undefined) {
      steps = new Map();
      used.set(identity, steps);
    }
    if (measure === "seen") steps.set(from, ONE);
    else steps.set(from, (steps.get(from) ?? 0n) + roundedQuotient(value, 1n, MICRO));
  });
  return used;
}

const times = new Map<number, string>();

/** Cached, as every identity has the same few hundred steps. */
function isoTime(seconds: number): string {
  const known = times.get(seconds);
  if (known !== undefined) return known;
  if (times.size > 20_000) times.clear();
  const time = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  times.set(seconds, time);
  return time;
}
