/**
 * Prometheus as a source of measured quantities: range queries over whole UTC days, in pieces that stay small.
 *
 * Memory is bounded by the limit on one answer: a piece whose answer is larger is asked again in halves, down to a single
 * point. A piece that fails for another reason is halved down to one day, so that one bad day does not take its neighbours
 * with it. Neither is tried when the upstream as a whole cannot be talked to.
 */
import type { Logger } from "pino";
import type { DayWindow } from "../ecosystem.js";
import { type Exact, parseExact } from "../exact.js";
import type { UpstreamClient, UpstreamRequest } from "../upstream-http/client.js";
import { digesting, digestOf } from "../upstream-http/digest.js";
import { isHopeless, UpstreamError } from "../upstream-http/upstream-error.js";
import { type Answer, isSample, readAnswer, type Series } from "./answer.js";
import { chunksOf, countOf, coveredFrom, daysOf, halvesOf, type PointRange, pointsOf } from "./points.js";

export interface RangeQuery {
  /** PromQL. The text `$step` in it is replaced by the step (`3600s`), nothing else is. */
  readonly expression: string;
  readonly window: DayWindow;
  /** Must be the range that the expression looks back over (`[1h]`: 3600), or time is counted twice or lost. */
  readonly stepSeconds: number;
  /** Called with each answer that became a piece. */
  readonly onAnswer?: ((answer: RangeAnswer) => void) | undefined;
}

/** What was asked for one piece, and a digest of the bytes that came back. Plain JSON. */
export interface RangeAnswer extends PointRange {
  readonly expression: string;
  readonly digest: string;
}

/** Samples of some days, or days that could not be had. */
export type RangePiece =
  | {
      readonly kind: "samples";
      readonly days: readonly string[];
      readonly each: (visit: SampleVisitor) => void;
    }
  | { readonly kind: "failed"; readonly days: readonly string[]; readonly reason: string };

/** `from`: start of the step that the sample covers, in seconds since 1970. */
export type SampleVisitor = (labels: Readonly<Record<string, string>>, from: number, value: Exact) => void;

export type DropReason = "outside_window" | "not_finite" | "negative" | "malformed";
export type Dropped = (reason: DropReason) => void;

export interface PrometheusSource {
  /** Pieces in the order of time. Throws `UpstreamError` when the query as a whole is hopeless. */
  range(query: RangeQuery, dropped: Dropped, signal: AbortSignal): AsyncGenerator<RangePiece>;
  /** Asks once more, reading nothing of the answer but whether it is the same. Throws `UpstreamError`. */
  answersAsBefore(answer: RangeAnswer, signal: AbortSignal): Promise<boolean>;
  /** Labels of the series that have a sample now. */
  labelsNow(expression: string, stepSeconds: number, signal: AbortSignal): Promise<Answer["series"]>;
  close(): void;
}

/** Prometheus refuses more than 11,000 points of a series in one answer. */
const MOST_POINTS = 10_000;
/** Read and added up, an answer takes about ten times its size in memory, and several queries run at once: at 32 MiB four of them took 1.3 GB. */
const LARGEST_ANSWER_BYTES = 8 * 1_048_576;
/** A piece of a piece that has failed was tried in full before. */
const ATTEMPTS_ON_PIECES = 2;

export function createPrometheusSource(
  client: UpstreamClient,
  logger: Logger,
  largestAnswerBytes = LARGEST_ANSWER_BYTES,
): PrometheusSource {
  /** Points that an expression's answers were small enough for, learnt from one that was not. */
  const fitting = new Map<string, number>();

  async function ask<T>(
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
          ...NO_PARTIAL_ANSWERS,
        },
        maxBytes: largestAnswerBytes,
      },
      signal,
    );
  }

  async function* piecesOf(
    { expression, onAnswer }: Pick<RangeQuery, "expression" | "onAnswer">,
    range: PointRange,
    attempts: number | undefined,
    dropped: Dropped,
    signal: AbortSignal,
  ): AsyncGenerator<RangePiece> {
    const days = daysOf(range);
    let series: readonly Series[];
    try {
      const decode = (body: Buffer) => ({
        ...readAnswer(body.toString("utf8"), "matrix"),
        digest: onAnswer && digestOf(body),
      });
      const answer = await ask(
        expression,
        range,
        { decode, ...(attempts === undefined ? {} : { attempts }) },
        signal,
      );
      logRemarks(answer);
      if (answer.digest !== undefined) onAnswer?.({ expression, ...range, digest: answer.digest });
      series = answer.series;
    } catch (error) {
      if (!(error instanceof UpstreamError) || isHopeless(error)) throw error;
      const tooLarge = error.code === "too_large";
      const halves = tooLarge || days.length > 1 ? halvesOf(range) : undefined;
      if (halves === undefined) {
        yield { kind: "failed", days, reason: error.message };
        return;
      }
      if (tooLarge) fitting.set(expression, Math.max(1, Math.floor(countOf(range) / 2)));
      const fewer = tooLarge ? attempts : ATTEMPTS_ON_PIECES;
      for (const half of halves) yield* piecesOf({ expression, onAnswer }, half, fewer, dropped, signal);
      return;
    }
    yield { kind: "samples", days, each: (visit) => visitSamples(series, range, dropped, visit) };
  }

  function logRemarks({ remarks }: Answer): void {
    for (const remark of remarks)
      logger.warn({ remark: client.shown(remark) }, "Prometheus remarks on a query");
  }

  return {
    async *range({ expression, window, stepSeconds, onAnswer }, dropped, signal) {
      const whole = pointsOf(window, stepSeconds);
      let next: number | undefined = whole.first;
      while (next !== undefined && next <= whole.last) {
        const most = Math.min(MOST_POINTS, fitting.get(expression) ?? MOST_POINTS);
        const [chunk] = chunksOf({ ...whole, first: next }, most);
        if (chunk === undefined) return;
        yield* piecesOf({ expression, onAnswer }, chunk, undefined, dropped, signal);
        next = chunk.last + stepSeconds;
      }
    },
    async answersAsBefore({ expression, digest, ...range }, signal) {
      const decode = (found: Buffer) => found.toString() === digest;
      return await ask(expression, range, { condense: digesting, decode, attempts: 1 }, signal);
    },
    async labelsNow(expression, stepSeconds, signal) {
      const answer = await client.request(
        {
          method: "POST",
          path: "api/v1/query",
          form: { query: withStep(expression, stepSeconds), ...NO_PARTIAL_ANSWERS },
          maxBytes: largestAnswerBytes,
          decode: (body) => readAnswer(body.toString("utf8"), "vector"),
        },
        signal,
      );
      logRemarks(answer);
      return answer.series;
    },
    close: () => client.close(),
  };
}

/** Thanos and VictoriaMetrics then fail instead of leaving something out; Prometheus itself ignores both. */
const NO_PARTIAL_ANSWERS = { partial_response: "false", deny_partial_response: "1" };

function withStep(expression: string, stepSeconds: number): string {
  return expression.replaceAll("$step", `${stepSeconds}s`);
}

function visitSamples(
  series: readonly Series[],
  range: PointRange,
  dropped: Dropped,
  visit: SampleVisitor,
): void {
  const { first, last, stepSeconds } = range;
  for (const { labels, samples } of series) {
    for (const sample of samples) {
      if (!isSample(sample)) {
        dropped("malformed");
        continue;
      }
      const [at, text] = sample;
      if (at < first || at > last || (at - first) % stepSeconds !== 0) {
        dropped("outside_window");
        continue;
      }
      const value = parseExact(text);
      if (value === undefined) dropped(/^[+-]?(nan|inf)/i.test(text) ? "not_finite" : "malformed");
      else if (value.units < 0n) dropped("negative");
      else visit(labels, coveredFrom(at, stepSeconds), value);
    }
  }
}
