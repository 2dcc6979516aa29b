/**
 * A test Prometheus that has scraped the vendor's metrics. It supports only `sum by (…) (sum_over_time(…))`, over
 * samples of single minutes.
 */
import type { Test } from "tap";
import { DAY_SECONDS, midnightSeconds } from "../../../src/common/days.js";
import { createPrometheusSource, type PrometheusSource } from "../../../src/ingest/prometheus/source.js";
import { createUpstreamClient } from "../../../src/upstream/http/client.js";
import { upstream } from "../../upstream/upstream-server.js";
import { silent } from "../generic_metrics_only/tenant.js";

export interface MinuteSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Minute, `2026-01-01T05:07:00Z` or shorter, → its sample. */
  readonly samples: Readonly<Record<string, number | string>>;
}

export interface Metrics {
  readonly url: string;
  series: readonly MinuteSeries[];
  /** Refuses queries that contain the text and whose range includes the day. */
  readonly failing: { day?: string; match: string; status: number }[];
  readonly queries: string[];
  source(largestAnswerBytes?: number): PrometheusSource;
}

const QUERY = /^sum by \(([^)]*)\) \(sum_over_time\((\w+)\{(\w+)=~"(.*)"\}\[(\d+)ms\]\)\)$/;

export async function startMetrics(t: Test, series: readonly MinuteSeries[] = []): Promise<Metrics> {
  const queries: string[] = [];
  const failing: Metrics["failing"] = [];
  const { url } = await upstream(t, (request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      const form = new URLSearchParams(body);
      const [query = "", start, end, step] = ["query", "start", "end", "step"].map(
        (key) => form.get(key) ?? "",
      );
      if (query.startsWith("label_replace(")) {
        // The check for replicas, of which there are none.
        response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result: [] } }));
        return;
      }
      queries.push(query);
      const range = { start: Number(start), end: Number(end), step: Number(step) };
      const failure = failing.find(
        ({ day, match }) => query.includes(match) && (day === undefined || touches(range, day)),
      );
      if (failure !== undefined) {
        response
          .writeHead(failure.status)
          .end('{"status":"error","errorType":"bad_data","error":"the test says so"}');
        return;
      }
      const result = evaluated(metrics.series, query, range);
      response.end(JSON.stringify({ status: "success", data: { resultType: "matrix", result } }));
    });
  });
  const metrics: Metrics = {
    url,
    series,
    failing,
    queries,
    source(largestAnswerBytes) {
      const client = createUpstreamClient({
        baseUrl: url,
        auth: { kind: "none" },
        logger: silent,
        pace: { concurrency: 8, minIntervalMs: 0 },
        retry: { attempts: 2, baseDelayMs: 5, maxDelayMs: 10 },
      });
      t.teardown(() => client.close());
      return createPrometheusSource(client, silent, largestAnswerBytes);
    },
  };
  return metrics;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

function touches({ start, end, step }: Range, day: string): boolean {
  const from = midnightSeconds(day);
  return start - step < from + DAY_SECONDS && end > from;
}

function evaluated(all: readonly MinuteSeries[], query: string, { start, end, step }: Range) {
  const parts = QUERY.exec(query);
  if (parts === null) throw new Error(`the test's Prometheus does not know ${query}`);
  const [, by = "", name, label = "", pattern = "", ms] = parts;
  // A PromQL string, then an anchored regular expression of RE2.
  const anyOf = new RegExp(`^(?:${pattern.replaceAll("\\\\", "\\").replaceAll("\\x{", "\\u{")})$`, "u");
  const sums = new Map<string, { metric: Record<string, string>; values: Map<number, number> }>();
  for (const series of all) {
    if (series.name !== name || !anyOf.test(series.labels[label] ?? "")) continue;
    const kept = by.split(", ").flatMap((key) => {
      const value = series.labels[key];
      return value === undefined ? [] : [[key, value] as const];
    });
    const group = JSON.stringify(kept);
    const sum = sums.get(group) ?? { metric: Object.fromEntries(kept), values: new Map<number, number>() };
    sums.set(group, sum);
    for (const [minute, value] of Object.entries(series.samples)) {
      const at = Date.parse(minute.length === 10 ? `${minute}T00:00:00Z` : minute) / 1000;
      for (let point = start; point <= end; point += step) {
        // Like Prometheus before version 3: both ends belong to the range.
        if (at * 1000 < point * 1000 - Number(ms) || at > point) continue;
        sum.values.set(point, (sum.values.get(point) ?? 0) + Number(value));
      }
    }
  }
  return [...sums.values()].map(({ metric, values }) => ({
    metric,
    values: [...values].sort(([a], [b]) => a - b).map(([at, value]) => [at, String(value)]),
  }));
}
