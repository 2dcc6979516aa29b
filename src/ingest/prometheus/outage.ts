/**
 * A Prometheus that was found to be away is not asked again in the same run: each query would wait for it in vain, with all its
 * attempts, for every window of a long lookback.
 */
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import { failedResponse, type PrometheusSource } from "./source.js";

/** What is wrong with the upstream as a whole, and not with one query. */
const AWAY: ReadonlySet<string> = new Set(["unreachable", "unauthorized", "redirect_refused"]);

export function askedOnceWhenAway(source: PrometheusSource): PrometheusSource {
  let away: UpstreamError | undefined;
  const remember = (error: unknown) => {
    if (error instanceof UpstreamError && AWAY.has(error.code)) away = error;
    return error;
  };
  return {
    async *range(query, dropped, signal) {
      if (away !== undefined) {
        query.onResponse?.(failedResponse(query));
        throw away;
      }
      try {
        yield* source.range(query, dropped, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    isUnchanged: (answer, signal) => source.isUnchanged(answer, signal),
    async earliestDay(query, signal) {
      if (away !== undefined) throw away;
      try {
        return await source.earliestDay(query, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    async sampledDays(query, signal) {
      if (away !== undefined) throw away;
      try {
        return await source.sampledDays(query, signal);
      } catch (error) {
        throw remember(error);
      }
    },
    async labelsNow(expression, stepSeconds, signal, at) {
      if (away !== undefined) throw away;
      try {
        return await source.labelsNow(expression, stepSeconds, signal, at);
      } catch (error) {
        throw remember(error);
      }
    },
    close: () => source.close(),
  };
}
