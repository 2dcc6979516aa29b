/**
 * Reads the responses of Prometheus and compatible systems. Sample values stay text.
 *
 * A warning normally means that some source of the response failed (remote read, a Thanos store, a ruler), so data may
 * be missing, and the response is refused as partial. Only remarks about the wording of a query, which newer versions
 * report as warnings, too (`PromQL info:`, `PromQL warning:`), are accepted and logged. VictoriaMetrics returns
 * `isPartial`.
 */
import { DecodeError } from "../../upstream/http/client.js";
import { type SampleBytes, takeSamplesOut } from "./sample-bytes.js";

export interface PrometheusSeries {
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Samples as received, because a response has half a million of them: bytes to be scanned, or values that have to be
   * checked with `isSample`.
   */
  readonly samples: SampleBytes | readonly unknown[];
}

export interface PrometheusResponse {
  readonly series: readonly PrometheusSeries[];
  /** Remarks that do not make the response partial. */
  readonly remarks: readonly string[];
}

type ResultType = "matrix" | "vector";

/** Throws `DecodeError` if the response is an error, partial, or not of the protocol. */
export function readResponse(body: Buffer, wanted: ResultType): PrometheusResponse {
  const { text: json, samples: extracted } = takeSamplesOut(body);
  const response = parseObject(json);
  if (response.status === "error") {
    throw new DecodeError(
      "bad_status",
      `returned ${text(response.errorType)}: ${text(response.error)}`,
      false,
    );
  }
  const data = response.data;
  if (response.status !== "success" || !isRecord(data) || !Array.isArray(data.result)) {
    throw new DecodeError("bad_body", "the response is not one of the Prometheus HTTP API", true);
  }
  if (data.resultType !== wanted) {
    throw new DecodeError(
      "bad_body",
      `the query gives a ${text(data.resultType)} where a ${wanted} is needed`,
      false,
    );
  }
  const remarks = readRemarks(response);
  const field = wanted === "matrix" ? "values" : "value";
  return { series: data.result.map((entry) => readSeries(entry, field, extracted)), remarks };
}

/** Returns the message of an error response. Undefined if it is not an error of Prometheus. */
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

function readRemarks(response: Record<string, unknown>): string[] {
  if (response.isPartial === true)
    throw new DecodeError("partial_response", "the response is marked as partial", true);
  const remarks = [...strings(response.warnings), ...strings(response.infos)];
  const serious = strings(response.warnings).find((warning) => !/^PromQL (info|warning):/i.test(warning));
  if (serious !== undefined) {
    throw new DecodeError("partial_response", `the response may be partial: ${serious}`, true);
  }
  return remarks;
}

function readSeries(
  entry: unknown,
  field: "value" | "values",
  extracted: ReadonlyMap<unknown, SampleBytes>,
): PrometheusSeries {
  if (!isRecord(entry) || !isRecord(entry.metric)) {
    throw new DecodeError("bad_body", "a series in the response has no labels", true);
  }
  if (entry.histograms !== undefined || entry.histogram !== undefined) {
    throw new DecodeError("bad_body", "the query gives histograms where numbers are needed", false);
  }
  const samples = samplesOf(entry, field, extracted);
  const labels = Object.fromEntries(
    Object.entries(entry.metric).filter((label): label is [string, string] => typeof label[1] === "string"),
  );
  return { labels, samples };
}

function samplesOf(
  { value, values }: Record<string, unknown>,
  field: "value" | "values",
  extracted: ReadonlyMap<unknown, SampleBytes>,
): PrometheusSeries["samples"] {
  if (field === "value" && Array.isArray(value)) return [value];
  const bytes = extracted.get(values);
  if (bytes !== undefined) return bytes;
  if (Array.isArray(values)) return values;
  throw new DecodeError("bad_body", "a series in the response has no samples", true);
}

export function areBytes(samples: PrometheusSeries["samples"]): samples is SampleBytes {
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
