/** What the query of one cost type gives for a window: per day, the sum of its series at each point; or why a day failed. */

import { type Exact, plus } from "../../numbers/exact.js";
import { dayOfSeconds } from "../../time/days.js";
import type { DayWindow } from "../ecosystem.js";
import type { Dropped, PrometheusSource } from "../prometheus/source.js";
import { type PartlyMeasured, partlyMeasured } from "./partly-measured.js";

export interface CostSamples {
  readonly sums: ReadonlyMap<string, ReadonlyMap<number, Exact>>;
  readonly failed: ReadonlyMap<string, string>;
  /** Days with samples of a part of the day alone, and how large it is. They have no sums. */
  readonly partly: ReadonlyMap<string, string>;
  /** The first day that there are samples of, if it is measured in part. It has sums. */
  readonly first: PartlyMeasured["first"];
}

export async function costSamples(
  source: PrometheusSource,
  query: { readonly expression: string; readonly window: DayWindow; readonly stepSeconds: number },
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
      const ofDay = sums.get(day) ?? new Map<number, Exact>();
      const before = ofDay.get(from);
      ofDay.set(from, before === undefined ? value : plus(before, value));
      sums.set(day, ofDay);
    });
  }
  const steps = new Set([...sums.values()].flatMap((ofDay) => [...ofDay.keys()]));
  const { gaps: partly, first } = await partlyMeasured(source, query, steps, signal);
  for (const day of partly.keys()) sums.delete(day);
  return { sums, failed, partly, first };
}
