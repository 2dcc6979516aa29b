/** A Prometheus whose series are all scripted. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Test } from "tap";

export interface ScriptedSeries {
  readonly labels?: Readonly<Record<string, string>>;
  /** Value at a point, in seconds since 1970; undefined for no sample there. */
  readonly at: (point: number) => number | string | undefined;
}

/** The series of a query, or the status of a refusal. */
export type PrometheusScript = (query: string) => readonly ScriptedSeries[] | number;

export interface ScriptedPrometheus {
  readonly url: string;
  /** May be changed at any time. */
  script: PrometheusScript;
  /** Received queries in order, once for each request. */
  readonly queries: string[];
}

export async function startScriptedPrometheus(
  t: Test,
  script: PrometheusScript,
): Promise<ScriptedPrometheus> {
  const queries: string[] = [];
  const prometheus = { url: "", script, queries };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const query = form.get("query") ?? "";
    queries.push(query);
    const series = prometheus.script(query);
    if (typeof series === "number") {
      response.writeHead(series).end("{}");
      return;
    }
    const points = pointsOf(form);
    const ranged = request.url?.endsWith("query_range") ?? false;
    const result = series.flatMap(({ labels = {}, at }) => {
      const samples = points.flatMap((point) => {
        const value = at(point);
        return value === undefined ? [] : [[point, String(value)]];
      });
      if (samples.length === 0) return [];
      return [ranged ? { metric: labels, values: samples } : { metric: labels, value: samples[0] }];
    });
    const resultType = ranged ? "matrix" : "vector";
    response.end(JSON.stringify({ status: "success", data: { resultType, result } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  prometheus.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return prometheus;
}

function pointsOf(form: URLSearchParams): number[] {
  const [start, end, step] = ["start", "end", "step"].map((name) => Number(form.get(name)));
  if (!start || !end || !step) return [Math.floor(Date.now() / 1000)];
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}
