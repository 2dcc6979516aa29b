/**
 * Stops querying a Prometheus that is down for the rest of the run. Otherwise each query of every window of a long
 * lookback would wait for all its attempts.
 */
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import { failedResponse, type PrometheusSource } from "./source.js";

/** Errors that concern the whole upstream, and not one query. */
const DOWN: ReadonlySet<string> = new Set(["unreachable", "unauthorized", "redirect_refused"]);

export function withoutRetriesWhenDown(source: PrometheusSource): PrometheusSource {
  let downError: UpstreamError | undefined;
  const remember = (error: unknown) => {
    if (error instanceof UpstreamError && DOWN.has(error.code)) downError = error;
    return error;
  };
  return {
    async *range(query, dropped, signal) {
      if (downError !== undefined) {
        query.onResponse?.(failedResponse(query));
        throw downError;
      }
      try {
        yield* source.range(query, dropped, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    isUnchanged: (response, signal) => source.isUnchanged(response, signal),
    async earliestDay(query, signal) {
      if (downError !== undefined) throw downError;
      try {
        return await source.earliestDay(query, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    async sampledDays(query, signal) {
      if (downError !== undefined) throw downError;
      try {
        return await source.sampledDays(query, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    async labelsNow(expression, stepSeconds, signal, at) {
      if (downError !== undefined) throw downError;
      try {
        return await source.labelsNow(expression, stepSeconds, signal, at);
      } catch (error) {
        throw remember(error);
      }
    },
    close: () => source.close(),
  };
}
