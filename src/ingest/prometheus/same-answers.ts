/** Whether a Prometheus still answers what it did. */
import pLimit from "p-limit";
import { together } from "../together.js";
import type { PrometheusSource, RangeAnswer } from "./source.js";

/** Asks until one differs. Throws `UpstreamError`. */
export async function sameAnswers(
  source: PrometheusSource | undefined,
  answers: readonly RangeAnswer[],
  parallelQueries: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answers.length === 0) return true;
  if (source === undefined) return false;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(parallelQueries);
  const asked = answers.map((answer) =>
    limit(async () => {
      const same = await source.answersAsBefore(answer, either);
      if (!same) stop.abort();
      return same;
    }),
  );
  return (await together(stop, asked)).every(Boolean);
}
