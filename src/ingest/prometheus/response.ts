/**
 * Reads what Prometheus, and those that speak its protocol, answer. Sample values stay text.
 *
 * A warning normally means that some source of the answer failed (remote read, a Thanos store, a ruler), so something may
 * be missing: such an answer is refused as partial. Only remarks about the wording of a query, which newer versions put
 * there as well (`PromQL info:`, `PromQL warning:`), are let through, to be logged. VictoriaMetrics says `isPartial`.
 */
import { DecodeError } from "../../upstream-http/judge.js";
import { type SampleBytes, takeSamplesOut } from "./sample-bytes.js";

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** As they came, because an answer has half a million of them: still bytes, to be scanned; or else ask `isSample` of each. */
  readonly samples: SampleBytes | readonly unknown[];
}

export interface PrometheusResponse {
  readonly series: readonly Series[];
  /** Remarks that do not make the answer partial. */
  readonly remarks: readonly string[];
}

type ResultType = "matrix" | "vector";

/** Throws `DecodeError` when the answer is an error, partial, or not of the protocol. */
export function readResponse(body: Buffer, wanted: ResultType): PrometheusResponse {
  const { text: json, samples: taken } = takeSamplesOut(body);
  const answer = parseObject(json);
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
  return { series: data.result.map((entry) => readSeries(entry, field, taken)), remarks };
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

function readSeries(
  entry: unknown,
  field: "value" | "values",
  taken: ReadonlyMap<unknown, SampleBytes>,
): Series {
  if (!isRecord(entry) || !isRecord(entry.metric)) {
    throw new DecodeError("bad_body", "a series in the response has no labels", true);
  }
  if (entry.histograms !== undefined || entry.histogram !== undefined) {
    throw new DecodeError("bad_body", "the query gives histograms where numbers are needed", false);
  }
  const samples = samplesOf(entry, field, taken);
  const labels = Object.fromEntries(
    Object.entries(entry.metric).filter((label): label is [string, string] => typeof label[1] === "string"),
  );
  return { labels, samples };
}

function samplesOf(
  { value, values }: Record<string, unknown>,
  field: "value" | "values",
  taken: ReadonlyMap<unknown, SampleBytes>,
): Series["samples"] {
  if (field === "value" && Array.isArray(value)) return [value];
  const bytes = taken.get(values);
  if (bytes !== undefined) return bytes;
  if (Array.isArray(values)) return values;
  throw new DecodeError("bad_body", "a series in the response has no samples", true);
}

export function areBytes(samples: Series["samples"]): samples is SampleBytes {
  return !Array.isArray(samples);
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
