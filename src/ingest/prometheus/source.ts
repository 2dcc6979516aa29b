/**
 * Prometheus as a source of measured quantities: range queries over whole UTC days, in pieces that stay small. The
 * limit on a response bounds memory.
 */
import type { Logger } from "pino";
import { DAY_SECONDS, type DayRange, dayOfSeconds } from "../../common/days.js";
import type { UpstreamClient, UpstreamRequest } from "../../upstream/http/client.js";
import { digesting, digestOfBytes } from "../../upstream/http/digest.js";
import { chunksOf, coveredFrom, daysOf, type PointRange, readPoints } from "./points.js";
import {
  areBytes,
  isSample,
  type PrometheusResponse,
  type PrometheusSeries,
  readResponse,
} from "./response.js";
import { scanSamples } from "./sample-bytes.js";
import { newPatience, type Part, type PartRequests, piecesOf } from "./split-query.js";
import { type Dropped, type SampleVisitor, type SeriesVisitor, visiting } from "./visit-samples.js";

export interface RangeQuery {
  /** PromQL. Only the text `$step` in it is replaced, by the step (`3600s`). */
  readonly expression: string;
  /** The resources of the expression, if it can be restricted to some of them. */
  readonly among?: Divisible | undefined;
  readonly window: DayRange;
  /** Must be the range that the expression looks back over (`[1h]`: 3600), or time is counted twice or lost. */
  readonly stepSeconds: number;
  /** Called with each response that became a piece, and with each request that failed. */
  readonly onResponse?: ((response: RangeResponse) => void) | undefined;
}

export interface Divisible {
  readonly resources: readonly string[];
  /** Returns the expression for some of them. */
  expressionOf(resources: readonly string[]): string;
}

/** The request for one piece, and a digest of the response's bytes, or `FAILED` if it failed. Plain JSON. */
export interface RangeResponse extends PointRange {
  readonly expression: string;
  readonly digest: string;
}

export const FAILED = "failed";

export function failuresOf(responses: readonly RangeResponse[]): number {
  return responses.filter(({ digest }) => digest === FAILED).length;
}

/** The first request of a query, as a failed one. */
export function failedResponse({ expression, window, stepSeconds }: RangeQuery): RangeResponse {
  return { expression, ...readPoints(window, stepSeconds), digest: FAILED };
}

/** Samples of some days, or days that could not be fetched. */
export type RangePiece =
  | {
      readonly kind: "samples";
      readonly days: readonly string[];
      readonly each: (visit: SampleVisitor) => void;
      /** The same, series by series, without an object for most samples: a fraction of the time. */
      readonly eachSeries: (visit: SeriesVisitor) => void;
    }
  | {
      readonly kind: "failed";
      readonly days: readonly string[];
      /** Resources of `among` that it failed for. Undefined without them. */
      readonly resources: readonly string[] | undefined;
      readonly reason: string;
    };

export interface PrometheusSource {
  /** Yields pieces in chronological order. Throws `UpstreamError` if the whole query is hopeless. */
  range(query: RangeQuery, dropped: Dropped, signal: AbortSignal): AsyncGenerator<RangePiece>;
  /** Repeats the request, and only compares its digest. Throws `UpstreamError`. */
  isUnchanged(response: RangeResponse, signal: AbortSignal): Promise<boolean>;
  /**
   * Returns the first day of the window on which the query has a sample. Undefined if it has none. It is queried with a
   * step of a day and counted, so that months cost the upstream little and the response is small. A gauge is sampled
   * where days end. Throws `UpstreamError`.
   */
  earliestDay(
    query: Pick<RangeQuery, "expression" | "window">,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Returns all days of the window on which the query has a sample, ascending, sampled like `earliestDay`. Throws
   * `UpstreamError`.
   */
  sampledDays(
    query: Pick<RangeQuery, "expression" | "window">,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Returns the series with a sample now, or at a time in seconds since 1970. Throws `UpstreamError`. */
  labelsNow(
    expression: string,
    stepSeconds: number,
    signal: AbortSignal,
    at?: number,
  ): Promise<PrometheusResponse["series"]>;
  close(): void;
}

/** Prometheus refuses more than 11,000 points of a series in one response. */
const MOST_POINTS = 10_000;
/** A response is held in memory while it is added up, and several queries run in parallel. */
const LARGEST_RESPONSE_BYTES = 8 * 1_048_576;

export function createPrometheusSource(
  client: UpstreamClient,
  logger: Logger,
  largestResponseBytes = LARGEST_RESPONSE_BYTES,
): PrometheusSource {
  /** Number of points that fit into a response of an expression, learnt from one that was too large. */
  const fitting = new Map<string, number>();
  const patience = newPatience();

  async function queryRange<T>(
    expression: string,
    { first, last, stepSeconds }: PointRange,
    how: Pick<UpstreamRequest<T>, "attempts" | "decode" | "condense">,
    signal: AbortSignal,
  ): Promise<T> {
    return await client.request(
      {
        ...how,
        method: "POST",
        path: "api/v1/query_range",
        form: {
          query: withStep(expression, stepSeconds),
          start: String(first),
          end: String(last),
          step: String(stepSeconds),
          ...NO_PARTIAL_RESPONSES,
        },
        maxBytes: largestResponseBytes,
      },
      signal,
    );
  }

  function logRemarks({ remarks }: PrometheusResponse): void {
    for (const remark of remarks)
      logger.warn({ remark: client.shown(remark) }, "Prometheus returned warnings for a query");
  }

  async function sampledDays(
    { expression, window }: Pick<RangeQuery, "expression" | "window">,
    signal: AbortSignal,
  ): Promise<string[]> {
    const counted = `count(${withStep(expression, DAY_SECONDS)})`;
    const points = readPoints(window, DAY_SECONDS);
    const decode = (body: Buffer) => readResponse(body, "matrix");
    const { series } = await queryRange(counted, points, { decode }, signal);
    const ends = series.flatMap(timesOf);
    return ends.sort((a, b) => a - b).map((end) => dayOfSeconds(coveredFrom(end, DAY_SECONDS)));
  }

  return {
    async *range({ expression, among, window, stepSeconds, onResponse }, dropped, signal) {
      const expressionOf = (resources: readonly string[] | undefined) =>
        among === undefined || resources === undefined ? expression : among.expressionOf(resources);
      const failed = (range: PointRange, resources = among?.resources) =>
        onResponse?.({ expression: expressionOf(resources), ...range, digest: FAILED });
      const decode = (body: Buffer) => ({
        ...readResponse(body, "matrix"),
        digest: onResponse && digestOfBytes(body),
      });
      const send = async ({ range, resources }: Part, attempts: number | undefined) =>
        await queryRange(
          expressionOf(resources),
          range,
          { decode, ...(attempts === undefined ? {} : { attempts }) },
          signal,
        );
      const requests: PartRequests = {
        patience,
        tooLarge: (points) => void fitting.set(expression, points),
        async probe(part, attempts) {
          await send(part, attempts);
        },
        async request(part, attempts) {
          const { range, resources } = part;
          const partExpression = expressionOf(resources);
          const response = await send(part, attempts);
          logRemarks(response);
          if (response.digest !== undefined)
            onResponse?.({ expression: partExpression, ...range, digest: response.digest });
          return response.series;
        },
      };
      const whole = readPoints(window, stepSeconds);
      let next: number | undefined = whole.first;
      while (next !== undefined && next <= whole.last) {
        const most = Math.min(MOST_POINTS, fitting.get(expression) ?? MOST_POINTS);
        const [chunk] = chunksOf({ ...whole, first: next }, most);
        if (chunk === undefined) return;
        try {
          for await (const part of piecesOf(requests, { range: chunk, resources: among?.resources })) {
            const { kind, range, resources } = part;
            const days = daysOf(range);
            if (kind === "failed") {
              failed(range, resources);
              yield { kind, days, resources, reason: part.reason };
            } else yield { kind, days, ...visiting(part.series, range, dropped) };
          }
        } catch (error) {
          failed({ ...whole, first: next });
          throw error;
        }
        next = chunk.last + stepSeconds;
      }
    },
    async isUnchanged({ expression, digest, ...range }, signal) {
      const decode = (found: Buffer) => found.toString() === digest;
      return await queryRange(expression, range, { condense: digesting, decode, attempts: 1 }, signal);
    },
    earliestDay: async (query, signal) => (await sampledDays(query, signal))[0],
    sampledDays,
    async labelsNow(expression, stepSeconds, signal, at) {
      const response = await client.request(
        {
          method: "POST",
          path: "api/v1/query",
          form: {
            query: withStep(expression, stepSeconds),
            ...(at === undefined ? {} : { time: String(at) }),
            ...NO_PARTIAL_RESPONSES,
          },
          maxBytes: largestResponseBytes,
          decode: (body) => readResponse(body, "vector"),
        },
        signal,
      );
      logRemarks(response);
      return response.series;
    },
    close: () => client.close(),
  };
}

/** Makes Thanos and VictoriaMetrics fail instead of leaving data out. Prometheus itself ignores both. */
const NO_PARTIAL_RESPONSES = { partial_response: "false", deny_partial_response: "1" };

export function withStep(expression: string, stepSeconds: number): string {
  return expression.replaceAll("$step", `${stepSeconds}s`);
}

function timesOf({ samples }: PrometheusSeries): number[] {
  if (!areBytes(samples)) return samples.filter(isSample).map(([at]) => at);
  const times: number[] = [];
  scanSamples(samples.bytes, samples.from, (at) => void times.push(at));
  return times;
}
