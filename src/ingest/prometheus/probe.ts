/** Runs a query as a gathering would, and counts its series, identities and days. */
import { parser } from "@prometheus-io/lezer-promql";
import { addDays, type DayRange } from "../../common/days.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { Probe } from "../reports.js";
import { replicaSentences } from "./replicas.js";
import { type PrometheusSource, withStep } from "./source.js";

export interface ProbedQuery {
  readonly name: string;
  readonly expression: string;
  /** The label with the identity, if the query has identities. */
  readonly label?: string | undefined;
  /** Its samples are added up, so the range that it looks back over must be the step. */
  readonly isSum?: boolean;
  /** Its series are added up, so copies that replicas write count again. */
  readonly addsSeries?: boolean;
  /** Other data stands in if it has no series. */
  readonly isOptional?: boolean;
  readonly window: DayRange;
  readonly stepSeconds: number;
}

const NO_SERIES = "no series on any of these days, and none now: does the metric exist?";

function noDays({ start, end }: DayRange): string {
  const last = addDays(end, -1);
  return `there is no sample from ${start} to ${last}, only a newer one: nothing to charge yet; cutoff_days says how many of the latest days are left out`;
}

export async function probeQuery(
  source: PrometheusSource,
  query: ProbedQuery,
  signal: AbortSignal,
): Promise<Probe> {
  const { name, expression, label, isOptional = false, window } = query;
  try {
    // First run the query unchanged, so that the position of a syntax error is reported correctly.
    const now = await source.labelsNow(expression, query.stepSeconds, signal);
    const days = await source.sampledDays({ expression, window }, signal);
    const last = days.at(-1);
    const { series, end } =
      last === undefined
        ? { series: now.map(({ labels }) => labels), end: undefined }
        : await seriesOn(last, source, query, signal);
    if (series.length === 0) return { name, [isOptional ? "remark" : "failure"]: NO_SERIES };
    const identities = new Set(series.map((labels) => labels[label ?? ""] ?? "").filter((id) => id !== ""));
    const found = {
      series: series.length,
      ...(label === undefined ? {} : { identities: identities.size }),
      days: days.length,
    };
    const names = new Set(series.flatMap((each) => Object.keys(each)));
    const labels = [...names].filter((label) => label !== "__name__").sort();
    const replicaQuery = {
      expression,
      stepSeconds: query.stepSeconds,
      at: end,
      meant: label === undefined ? [] : [label],
      labels: labels.filter((name) => REPLICA_LABEL.test(name)),
    };
    const remarks = [
      ...(days.length === 0 ? [noDays(window)] : []),
      ...(label !== undefined && identities.size === 0 ? [`no series has the label ${label}`] : []),
      ...unlabelled(series, label, identities.size),
      ...(query.addsSeries ? await replicaSentences(source, replicaQuery, signal) : []),
      ...(query.isSum ? otherRanges(expression, query.stepSeconds) : []),
    ];
    return { name, found, labels, ...(remarks.length > 0 && { remark: remarks.join("; ") }) };
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return { name, failure: error.message };
  }
}

type Labels = Readonly<Record<string, string>>;

function unlabelled(series: readonly Labels[], label: string | undefined, identities: number): string[] {
  if (label === undefined || identities === 0) return [];
  const without = series.filter((labels) => (labels[label] ?? "") === "").length;
  return without === 0
    ? []
    : [`${without} of ${series.length} series have no label ${label}: their usage goes to UNALLOCATED`];
}

const REPLICA_LABEL = /replica/i;

const MILLISECONDS = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Returns a remark on ranges of an expression that differ from the step by more than a millisecond. */
function otherRanges(expression: string, stepSeconds: number): string[] {
  const others = rangesOf(withStep(expression, stepSeconds)).filter(
    (range) => Math.abs(durationMs(range) - stepSeconds * 1000) > 1,
  );
  if (others.length === 0) return [];
  const shown = [...new Set(others)].map((range) => `[${range}]`).join(", ");
  return [
    `it looks back over ${shown} at each step of ${stepSeconds} s, so that time is left out or counted twice: use [$step]`,
  ];
}

/**
 * Returns the ranges of PromQL selectors, such as `1h30m`. Computed ones are left out, and those in subqueries, which
 * are evaluated at other times than the steps.
 */
function rangesOf(expression: string): string[] {
  const ranges: string[] = [];
  parser.parse(expression).iterate({
    enter({ name, node }) {
      const duration = name === "MatrixSelector" ? node.getChild("DurationExpr")?.firstChild : undefined;
      if (duration?.name === "NumberDurationLiteralInDurationContext")
        ranges.push(expression.slice(duration.from, duration.to));
      return name !== "SubqueryExpr";
    },
  });
  return ranges;
}

/** Parses a PromQL duration, such as `1h30m`, or a number of seconds. */
function durationMs(text: string): number {
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds * 1000;
  const parts = [...text.matchAll(/(\d+)(ms|[smhdwy])/g)];
  return parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * MILLISECONDS[unit as keyof typeof MILLISECONDS],
    0,
  );
}

/** Returns the series with samples on a day, and the end of the last step with a sample, in seconds since 1970. */
async function seriesOn(
  day: string,
  source: PrometheusSource,
  { expression, stepSeconds }: ProbedQuery,
  signal: AbortSignal,
): Promise<{ readonly series: Labels[]; readonly end: number | undefined }> {
  const window = { start: day, end: addDays(day, 1) };
  const series = new Map<string, Labels>();
  let end: number | undefined;
  for await (const piece of source.range({ expression, window, stepSeconds }, () => undefined, signal)) {
    if (piece.kind !== "samples") continue;
    piece.each((labels, from) => {
      series.set(JSON.stringify(labels), labels);
      end = Math.max(end ?? 0, from + stepSeconds);
    });
  }
  return { series: [...series.values()], end };
}
