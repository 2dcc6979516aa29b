/** Whether a Prometheus still answers what it did. */
import pLimit from "p-limit";
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import { allOrStop } from "../all-or-stop.js";
import { FAILED, type PrometheusSource, type RangeResponse } from "./source.js";

/** Asks until one differs; a question that failed is the same when it fails again. Throws `UpstreamError`. */
export async function areUnchanged(
  source: PrometheusSource | undefined,
  answers: readonly RangeResponse[],
  parallelQueries: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answers.length === 0) return true;
  if (source === undefined) return false;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(parallelQueries);
  let isAway = false;
  const isSame = async (answer: RangeResponse): Promise<boolean> => {
    if (answer.digest !== FAILED) return await source.isUnchanged(answer, either);
    if (isAway) return true;
    try {
      return await source.isUnchanged(answer, either);
    } catch (error) {
      if (either.aborted || !(error instanceof UpstreamError)) throw error;
      // Each of them would wait for it in vain.
      isAway = error.code === "unreachable";
      return true;
    }
  };
  const asked = answers.map((answer) =>
    limit(async () => {
      const same = await isSame(answer);
      if (!same) stop.abort();
      return same;
    }),
  );
  return (await allOrStop(stop, asked)).every(Boolean);
}
