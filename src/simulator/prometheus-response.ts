/** Responses of the Prometheus HTTP API, generated in pieces, because a response may be large. */
import { ABSENT, type Result } from "./evaluate.js";

export function* responseText(
  results: readonly Result[],
  points: readonly number[],
  form: "matrix" | "vector",
  warnings: readonly string[],
): Generator<string> {
  const noted = warnings.length > 0 ? `"warnings":${JSON.stringify(warnings)},` : "";
  yield `{"status":"success",${noted}"data":{"resultType":"${form}","result":[`;
  let separator = "";
  for (const { labels, values } of results) {
    const samples: string[] = [];
    points.forEach((point, index) => {
      const value = values[index] ?? ABSENT;
      if (value !== ABSENT) samples.push(`[${point},"${sampleText(value)}"]`);
    });
    if (samples.length === 0) continue;
    const field = form === "matrix" ? `"values":[${samples.join(",")}]` : `"value":${samples[0]}`;
    yield `${separator}{"metric":${JSON.stringify(labels)},${field}}`;
    separator = ",";
  }
  yield "]}}";
}

export function errorResponse(errorType: string, error: string): string {
  return JSON.stringify({ status: "error", errorType, error });
}

function sampleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value === Number.POSITIVE_INFINITY ? "+Inf" : String(value);
}
