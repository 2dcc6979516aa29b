/**
 * Reads what Prometheus, and those that speak its protocol, answer. Sample values stay text.
 *
 * A warning normally means that some source of the answer failed (remote read, a Thanos store, a ruler), so something may
 * be missing: such an answer is refused as partial. Only remarks about the wording of a query, which newer versions put
 * there as well (`PromQL info:`, `PromQL warning:`), are let through, to be logged. VictoriaMetrics says `isPartial`.
 */
import { DecodeError } from "../upstream-http/judge.js";

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** As they came: ask `isSample` of each. Not copied, because an answer has half a million of them. */
  readonly samples: readonly unknown[];
}

export interface Answer {
  readonly series: readonly Series[];
  /** Remarks that do not make the answer partial. */
  readonly remarks: readonly string[];
}

type ResultType = "matrix" | "vector";

/** Throws `DecodeError` when the answer is an error, partial, or not of the protocol. */
export function readAnswer(body: string, wanted: ResultType): Answer {
  const answer = parseObject(body);
  if (answer.status === "error") {
    throw new DecodeError("bad_status", `returned ${text(answer.errorType)}: ${text(answer.error)}`, false);
  }
  const data = answer.data;
  if (answer.status !== "success" || !isRecord(data) || !Array.isArray(data.result)) {
    throw new DecodeError("bad_body", "the response is not one of the Prometheus HTTP API", true);
  }
  if (data.resultType !== wanted) {
    throw new DecodeError(
      "bad_body",
      `the query gives a ${text(data.resultType)} where a ${wanted} is needed`,
      false,
    );
  }
  const remarks = readRemarks(answer);
  const field = wanted === "matrix" ? "values" : "value";
  return { series: data.result.map((entry) => readSeries(entry, field)), remarks };
}

/** Of an error's body, what Prometheus says about it. Undefined when it is no error of Prometheus'. */
export function prometheusDetail(body: string): string | undefined {
  try {
    const { errorType, error } = parseObject(body);
    return typeof error === "string" && error !== "" ? `${text(errorType)}: ${error}` : undefined;
  } catch {
    return undefined;
  }
}

function parseObject(body: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new DecodeError("bad_body", "the response is not JSON, or was cut short", true);
  }
  if (!isRecord(parsed)) throw new DecodeError("bad_body", "the response is not a JSON object", true);
  return parsed;
}

function readRemarks(answer: Record<string, unknown>): string[] {
  if (answer.isPartial === true)
    throw new DecodeError("partial_answer", "the response is marked as partial", true);
  const said = [...strings(answer.warnings), ...strings(answer.infos)];
  const serious = strings(answer.warnings).find((warning) => !/^PromQL (info|warning):/i.test(warning));
  if (serious !== undefined) {
    throw new DecodeError("partial_answer", `the response may be partial: ${serious}`, true);
  }
  return said;
}

function readSeries(entry: unknown, field: "value" | "values"): Series {
  if (!isRecord(entry) || !isRecord(entry.metric)) {
    throw new DecodeError("bad_body", "a series in the response has no labels", true);
  }
  if (entry.histograms !== undefined || entry.histogram !== undefined) {
    throw new DecodeError("bad_body", "the query gives histograms where numbers are needed", false);
  }
  const samples = field === "value" && Array.isArray(entry.value) ? [entry.value] : entry.values;
  if (!Array.isArray(samples))
    throw new DecodeError("bad_body", "a series in the response has no samples", true);
  const labels = Object.fromEntries(
    Object.entries(entry.metric).filter((label): label is [string, string] => typeof label[1] === "string"),
  );
  return { labels, samples };
}

/** [seconds since 1970, value as text]. */
export function isSample(sample: unknown): sample is readonly [number, string] {
  return (
    Array.isArray(sample) &&
    sample.length === 2 &&
    typeof sample[0] === "number" &&
    typeof sample[1] === "string"
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "something unknown";
}
