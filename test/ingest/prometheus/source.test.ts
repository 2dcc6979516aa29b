/** The Prometheus source against the simulator, and against responses of other systems that Prometheus never sends. */
import { once } from "node:events";
import { createServer } from "node:http";
import t, { type Test } from "tap";
import { type DayRange, dayOfSeconds } from "../../../src/common/days.js";
import { createPrometheusSource } from "../../../src/ingest/prometheus/source.js";
import type { DropReason } from "../../../src/ingest/prometheus/visit-samples.js";
import { KAFKA_BYTES_IN } from "../../../src/simulator/series.js";
import { type SimulatorOptions, startSimulator } from "../../../src/simulator/simulator.js";
import { createUpstreamClient } from "../../../src/upstream/http/client.js";
import type { UpstreamAuth } from "../../../src/upstream/http/credentials.js";
import type { UpstreamError } from "../../../src/upstream/http/upstream-error.js";
import { holds } from "../../holds.js";
import { daysAgo, forever, silent } from "../generic_metrics_only/tenant.js";
import { startScriptedPrometheus } from "./scripted-prometheus.js";

const QUERY = `sum by (principal) (increase(${KAFKA_BYTES_IN}[1h]))`;

async function simulator(t: Test, options: SimulatorOptions = {}) {
  const running = await startSimulator({ size: "tiny", ...options });
  t.teardown(() => running.close());
  return running;
}

function sourceOf(t: Test, url: string, auth: UpstreamAuth = { kind: "none" }, largestAnswerBytes?: number) {
  const client = createUpstreamClient({
    baseUrl: url,
    auth,
    logger: silent,
    pace: { concurrency: 4, minIntervalMs: 0 },
    retry: { attempts: 2, baseDelayMs: 2, maxDelayMs: 10 },
  });
  const source = createPrometheusSource(client, silent, largestAnswerBytes);
  t.teardown(() => source.close());
  return source;
}

/** All samples of a window as `identity time value`, in order, and the other results. */
async function gathered(
  source: ReturnType<typeof sourceOf>,
  window: DayRange,
  { expression = QUERY, stepSeconds = 3600 } = {},
) {
  const samples: string[] = [];
  const failed: string[] = [];
  const dropped: Partial<Record<DropReason, number>> = {};
  const count = (reason: DropReason) => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  const days = new Set<string>();
  for await (const piece of source.range({ expression, window, stepSeconds }, count, forever)) {
    if (piece.kind === "failed") failed.push(...piece.days);
    else
      piece.each((labels, from, value) => {
        days.add(dayOfSeconds(from));
        samples.push(`${labels.principal} ${from} ${value.units}e-${value.scale}`);
      });
  }
  return { samples: samples.sort(), failed, dropped, days: [...days].sort() };
}

const week = { start: daysAgo(9), end: daysAgo(2) };

t.test("a window is requested by one query, and has 24 samples a day and principal", async (t) => {
  const { url, requests } = await simulator(t);
  const { samples, failed, dropped } = await gathered(sourceOf(t, url), {
    start: daysAgo(3),
    end: daysAgo(2),
  });
  t.equal(requests.length, 1);
  t.equal(requests[0]?.points, 24);
  t.equal(samples.length % 24, 0);
  t.ok(samples.length > 0);
  t.same([failed, dropped], [[], {}]);
});

t.test(
  "the samples do not depend on the size of the pieces, and no query has more than 11,000 points",
  async (t) => {
    const { url, requests } = await simulator(t);
    const whole = await gathered(sourceOf(t, url), week);
    t.equal(whole.days.length, 7);
    for (const bytes of [30_000, 3000, 1000]) {
      const pieces = await gathered(sourceOf(t, url, { kind: "none" }, bytes), week);
      t.same(pieces.samples, whole.samples, `responses of at most ${bytes} bytes`);
      t.same(pieces.failed, []);
    }
    t.ok(requests.length > 100);
    const seconds = await gathered(sourceOf(t, url), week, {
      stepSeconds: 30,
      expression: `sum(${KAFKA_BYTES_IN})`,
    });
    t.equal(seconds.samples.length, 7 * 2880);
    t.ok(requests.every((request) => request.points < 11_000));
  },
);

t.test("a single point that is still too large fails only its day", async (t) => {
  const { url } = await simulator(t);
  const { samples, failed } = await gathered(sourceOf(t, url, { kind: "none" }, 100), week);
  t.same(samples, []);
  t.equal(new Set(failed).size, 7);
});

t.test("$step becomes the step, and {} stays unchanged", async (t) => {
  const { url, requests } = await simulator(t);
  await gathered(sourceOf(t, url), week, { expression: `sum(increase(${KAFKA_BYTES_IN}{}[$step]))` });
  t.equal(requests[0]?.query, `sum(increase(${KAFKA_BYTES_IN}{}[3600s]))`);
});

t.test("one day of an outage fails alone", async (t) => {
  const { url } = await simulator(t, { faults: [{ kind: "outage", days: [daysAgo(5)] }] });
  const { failed, days } = await gathered(sourceOf(t, url), week);
  t.same(failed, [daysAgo(5)]);
  t.equal(days.length, 6);
});

t.test("a resource that fails on all days affects no other, in any window or metric", async (t) => {
  const resources = Array.from({ length: 9 }, (_, index) => `lkc-${index}`);
  const { url } = await startScriptedPrometheus(t, (query) => {
    if (query.includes("lkc-4")) return 422;
    return resources
      .filter((id) => query.includes(id))
      .map((id) => ({ labels: { principal: id }, at: () => 1 }));
  });
  const source = sourceOf(t, url);
  const expressionOf = (metric: string) => (some: readonly string[]) =>
    `sum(${metric}{id=~"${some.join("|")}"})`;
  const windows = [
    { start: daysAgo(40), end: daysAgo(20) },
    { start: daysAgo(20), end: daysAgo(2) },
  ];
  const failed: string[] = [];
  const had: string[] = [];
  for (const window of windows) {
    for (const metric of ["sent", "received"]) {
      const among = { resources, expressionOf: expressionOf(metric) };
      const query = { expression: among.expressionOf(resources), among, window, stepSeconds: 3600 };
      for await (const piece of source.range(query, () => t.fail("nothing is dropped"), forever)) {
        if (piece.kind === "failed")
          failed.push(
            ...piece.days.flatMap((day) => (piece.resources ?? []).map((id) => `${metric} ${id} ${day}`)),
          );
        else
          piece.each(({ principal }, from) => {
            if (from % 86_400 === 0) had.push(`${metric} ${principal} ${dayOfSeconds(from)}`);
          });
      }
    }
  }
  t.equal(new Set(had).size, 2 * 8 * 38, "no good day is lost");
  t.equal(had.length, 2 * 8 * 38, "no day is read twice");
  t.equal(new Set(failed).size, 2 * 38);
  t.strictSame([...new Set(failed.map((place) => place.split(" ")[1]))], ["lkc-4"]);
});

t.test("an upstream that is completely down is one error, not many failed days", async (t) => {
  const { url, close } = await startSimulator({ size: "tiny" });
  await close();
  await t.rejects(gathered(sourceOf(t, url), week), { name: "UpstreamError", code: "unreachable" });
});

t.test("temporary failures are retried", async (t) => {
  const running = await simulator(t);
  const wanted = await gathered(sourceOf(t, running.url), week);
  for (const fault of [
    { kind: "truncated", times: 1 },
    { kind: "reset", times: 1 },
    { kind: "reset", times: 1, midway: true },
    { kind: "status", status: 503, times: 1 },
    { kind: "status", status: 429, times: 1, headers: { "retry-after": "0" } },
    { kind: "latency", ms: 20 },
    { kind: "warnings", times: 1, warnings: ["the store of last week is down"] },
  ] as const) {
    running.setFaults([fault]);
    t.same(await gathered(sourceOf(t, running.url), week), wanted, fault.kind);
  }
});

t.test("samples that are not finite are dropped and counted", async (t) => {
  for (const value of ["NaN", "+Inf"] as const) {
    const { url } = await simulator(t, { faults: [{ kind: "not_finite", value, every: 10 }] });
    const { samples, dropped, failed } = await gathered(sourceOf(t, url), week);
    t.ok((dropped.not_finite ?? 0) > 100, value);
    t.ok(samples.length > 1000);
    t.same(failed, []);
  }
});

t.test("a warning about missing data is a failure, a remark on the query is not", async (t) => {
  const partial = await simulator(t, {
    faults: [{ kind: "warnings", warnings: ["store x: deadline exceeded"] }],
  });
  const { failed, samples } = await gathered(sourceOf(t, partial.url), week);
  t.equal(failed.length, 7);
  t.same(samples, []);
  const warnings = ['PromQL info: metric might not be a counter: "x"', "PromQL warning: histograms"];
  const remarked = await simulator(t, { faults: [{ kind: "warnings", warnings }] });
  t.same((await gathered(sourceOf(t, remarked.url), week)).failed, []);
});

t.test("credentials and a path prefix reach the upstream", async (t) => {
  const authorization = `Basic ${Buffer.from("me:pw").toString("base64")}`;
  const { url } = await simulator(t, { authorization, pathPrefix: "/prometheus" });
  const basic = sourceOf(t, url, { kind: "basic", username: "me", password: "pw" });
  t.ok((await gathered(basic, week)).samples.length > 0);
  await t.rejects(gathered(sourceOf(t, url), week), { code: "unauthorized", status: 401 });
});

t.test("a wrong query is an error with Prometheus' own message", async (t) => {
  const { url, requests } = await simulator(t);
  const source = sourceOf(t, url);
  await t.rejects(gathered(source, week, { expression: "sum(" }), {
    code: "bad_status",
    status: 400,
    message: /bad_data/,
  });
  t.equal(requests.length, 1, "the query is not repeated in pieces");
});

t.test("the current labels are read", async (t) => {
  const { url } = await simulator(t);
  const series = await sourceOf(t, url).labelsNow(`group by (principal) (${KAFKA_BYTES_IN})`, 3600, forever);
  t.ok(series.length > 0);
  t.ok(series.every(({ labels }) => /^User:/.test(labels.principal ?? "")));
});

/** An upstream that responds to every query with one text. */
async function saying(t: Test, text: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const day = { start: "2026-01-01", end: "2026-01-02" };
const noon = Date.parse("2026-01-01T12:00:00Z") / 1000;
const matrix = (values: string) =>
  `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"principal":"a"},"values":${values}}]}}`;

t.test("invalid samples are dropped and counted, and the others taken exactly", async (t) => {
  const values = `[[${noon},"1.5e+10"],[${noon + 3600},"-1"],[${noon + 1},"1"],[${noon - 86_400},"1"],[${noon + 7200},5],
    [${noon + 10_800}],"x",[${noon + 14_400},"0x1"],[${noon + 18_000},"-Inf"],[${noon + 21_600},"0.1"]]`;
  const { samples, dropped } = await gathered(sourceOf(t, await saying(t, matrix(values))), day);
  t.same(samples, [`a ${noon - 3600} 15000000000e-0`, `a ${noon + 18_000} 1e-1`]);
  t.same(dropped, { negative: 1, outside_window: 2, malformed: 4, not_finite: 1 });
});

t.test("responses of another kind than requested are refused", async (t) => {
  const empty = '"data":{"resultType":"matrix","result":[]}';
  const cases: [string, UpstreamError["code"], RegExp][] = [
    ["<html>", "bad_body", /not JSON/],
    ["[]", "bad_body", /not a JSON object/],
    ['{"status":"success"}', "bad_body", /not one of the Prometheus HTTP API/],
    ['{"status":"success","data":{"resultType":"vector","result":[]}}', "bad_body", /vector where a matrix/],
    ['{"status":"success","data":{"resultType":"matrix","result":[{}]}}', "bad_body", /no labels/],
    ['{"status":"success","data":null}', "bad_body", /not one of the Prometheus HTTP API/],
    ['{"status":"success","data":{"resultType":"matrix","result":null}}', "bad_body", /not one of the Prom/],
    [matrix("null"), "bad_body", /no samples/],
    [matrix("7"), "bad_body", /no samples/],
    [matrix('[],"histograms":[]'), "bad_body", /histograms/],
    [`{"status":"success","isPartial":true,${empty}}`, "partial_response", /partial/],
    [`{"status":"success","warnings":["x"],${empty}}`, "partial_response", /may be partial: x/],
    ['{"status":"error","errorType":"execution","error":"too many"}', "bad_status", /execution: too many/],
  ];
  for (const [text, code, reason] of cases) {
    const url = await saying(t, text);
    const pieces: unknown[] = [];
    const query = { expression: "up", window: day, stepSeconds: 3600 };
    for await (const piece of sourceOf(t, url).range(query, () => undefined, forever)) pieces.push(piece);
    holds(t, pieces, [{ kind: "failed", days: ["2026-01-01"], reason }], `${code}: ${text.slice(0, 50)}`);
  }
  const nonsense = sourceOf(t, await saying(t, "<html>")).labelsNow("up", 3600, forever);
  await t.rejects(nonsense, { name: "UpstreamError", code: "bad_body" });
});

t.test("the earliest day with a sample of a query is found by one small request", async (t) => {
  const { url, requests } = await simulator(t, {
    faults: [{ kind: "missing_days", days: [daysAgo(9), daysAgo(8)] }],
  });
  const source = sourceOf(t, url);
  const earliest = (window: DayRange) =>
    source.earliestDay(
      { expression: `sum by (principal) (increase(${KAFKA_BYTES_IN}[$step]))`, window },
      forever,
    );
  t.equal(await earliest(week), daysAgo(7));
  t.equal(requests.length, 1);
  t.equal(requests[0]?.query, `count(sum by (principal) (increase(${KAFKA_BYTES_IN}[86400s])))`);
  t.equal(requests[0]?.points, 7);
  t.equal(await earliest({ start: daysAgo(9), end: daysAgo(7) }), undefined);
});

t.test("upstreams that merge responses are requested not to return partial ones", async (t) => {
  const requested: (string | null)[][] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    requested.push([String(request.url), form.get("partial_response"), form.get("deny_partial_response")]);
    const resultType = request.url?.endsWith("query_range") ? "matrix" : "vector";
    response.end(JSON.stringify({ status: "success", data: { resultType, result: [] } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const address = server.address();
  const source = sourceOf(t, `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
  await gathered(source, { start: daysAgo(3), end: daysAgo(2) });
  await source.labelsNow("up", 3600, forever);
  t.strictSame(requested, [
    ["/api/v1/query_range", "false", "1"],
    ["/api/v1/query", "false", "1"],
  ]);
});
