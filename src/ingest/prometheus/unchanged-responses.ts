/** Checks whether the responses of a Prometheus are still the same. */
import pLimit from "p-limit";
import { allOrStop } from "../../common/all-or-stop.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import { FAILED, type PrometheusSource, type RangeResponse } from "./source.js";

/**
 * Repeats requests until a response differs. A request that failed before is the same if it fails again. Throws
 * `UpstreamError`.
 */
export async function areUnchanged(
  source: PrometheusSource | undefined,
  responses: readonly RangeResponse[],
  parallelQueries: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (responses.length === 0) return true;
  if (source === undefined) return false;
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(parallelQueries);
  let isDown = false;
  const isSame = async (response: RangeResponse): Promise<boolean> => {
    if (response.digest !== FAILED) return await source.isUnchanged(response, stopSignal);
    if (isDown) return true;
    try {
      return await source.isUnchanged(response, stopSignal);
    } catch (error) {
      if (stopSignal.aborted || !(error instanceof UpstreamError)) throw error;
      // Each further request would only wait for its timeout.
      isDown = error.code === "unreachable";
      return true;
    }
  };
  const checks = responses.map((response) =>
    limit(async () => {
      const same = await isSame(response);
      if (!same) stop.abort();
      return same;
    }),
  );
  return (await allOrStop(stop, checks)).every(Boolean);
}
