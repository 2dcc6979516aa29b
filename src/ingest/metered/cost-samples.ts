/** Samples of one cost type in a window: for each day, the sum of its series at each point, or why the day failed. */
import { type DayRange, dayOfSeconds } from "../../common/days.js";
import { type Exact, plus } from "../../common/exact-decimal.js";
import type { PrometheusSource } from "../prometheus/source.js";
import type { Dropped } from "../prometheus/visit-samples.js";
import { type PartlyMeasured, partlyMeasured } from "./partly-measured.js";

export interface CostSamples {
  readonly sums: ReadonlyMap<string, ReadonlyMap<number, Exact>>;
  readonly failed: ReadonlyMap<string, string>;
  /** Days with samples of only a part of the day, and the size of that part. They have no sums. */
  readonly partly: ReadonlyMap<string, string>;
  /** The first day with samples, if it is measured in part. It has sums. */
  readonly first: PartlyMeasured["first"];
}

export async function costSamples(
  source: PrometheusSource,
  query: { readonly expression: string; readonly window: DayRange; readonly stepSeconds: number },
  dropped: Dropped,
  signal: AbortSignal,
): Promise<CostSamples> {
  const sums = new Map<string, Map<number, Exact>>();
  const failed = new Map<string, string>();
  for await (const piece of source.range(query, dropped, signal)) {
    if (piece.kind === "failed") {
      for (const day of piece.days) failed.set(day, piece.reason);
      continue;
    }
    piece.each((_labels, from, value) => {
      const day = dayOfSeconds(from);
      const daySums = sums.get(day) ?? new Map<number, Exact>();
      const before = daySums.get(from);
      daySums.set(from, before === undefined ? value : plus(before, value));
      sums.set(day, daySums);
    });
  }
  const steps = new Set([...sums.values()].flatMap((daySums) => [...daySums.keys()]));
  const { gaps: partly, first } = await partlyMeasured(source, query, steps, signal);
  for (const day of partly.keys()) sums.delete(day);
  return { sums, failed, partly, first };
}
