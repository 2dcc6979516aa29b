/** The simulated Prometheus is deterministic, and responds like a real one. */
import t, { type Test } from "tap";
import { type Size, sizes } from "../../src/simulator/organisation.js";
import { parseQuery } from "../../src/simulator/selector.js";
import { KAFKA_BYTES_IN, LOG_SIZE } from "../../src/simulator/series.js";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.js";
import { simulatedTenants } from "../../src/simulator/tenants.js";
import { holds } from "../holds.js";

const now = () => Date.parse("2026-03-10T15:30:00Z");
const midnight = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

interface PrometheusResponse {
  status: string;
  errorType?: string;
  data: { resultType: string; result: { metric: Record<string, string>; values: [number, string][] }[] };
}

async function simulator(t: Test, options: SimulatorOptions = {}) {
  const running = await startSimulator({ size: "tiny", now, ...options });
  t.teardown(() => running.close());
  const runQuery = async (query: string, day = "2026-03-05", method: "GET" | "POST" = "POST") => {
    const start = midnight(day);
    const form = new URLSearchParams({
      query,
      start: `${start + 3600}`,
      end: `${start + 86_400}`,
      step: "3600",
    });
    const address = `${running.url}/api/v1/query_range`;
    const response =
      method === "GET"
        ? await fetch(`${address}?${form}`)
        : await fetch(address, { method: "POST", body: form });
    return { status: response.status, body: (await response.json()) as PrometheusResponse };
  };
  return { ...running, runQuery };
}

const sumOf = (body: PrometheusResponse) =>
  body.data.result.flatMap(({ values }) => values).reduce((sum, [, value]) => sum + BigInt(value), 0n);

t.test("GET and POST return the same response", async (t) => {
  const { url, runQuery } = await simulator(t);
  t.equal((await fetch(`${url}/-/ready`)).status, 200);
  const query = `sum(${LOG_SIZE})`;
  t.same(await runQuery(query, "2026-03-05", "GET"), await runQuery(query));
});

t.test("the same seed produces the same series, another seed others", async (t) => {
  const query = `sum by (principal) (increase(${KAFKA_BYTES_IN}[1h]))`;
  const [first, second, other] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await (await simulator(t, { seed })).runQuery(query)).body),
  );
  t.same(first, second);
  t.notSame(first, other);
});

t.test("the bytes of the principals add up to those of the cluster", async (t) => {
  const { runQuery } = await simulator(t, { size: "small" });
  const one = `increase(${KAFKA_BYTES_IN}{cluster="kafka-orders"}[1h])`;
  const whole = (await runQuery(`sum(${one})`)).body;
  const parts = (await runQuery(`sum by (principal) (${one})`)).body;
  t.ok(sumOf(whole) > 0n);
  t.equal(sumOf(whole), sumOf(parts));
  t.equal(whole.data.result.length, 1);
  t.ok(parts.data.result.length > 30);
});

t.test("some principals are idle on some days, and a few transfer most", async (t) => {
  const { runQuery } = await simulator(t, { size: "small" });
  const { body } = await runQuery(
    `sum by (principal) (increase(${KAFKA_BYTES_IN}{cluster="kafka-orders"}[1h]))`,
  );
  const totals = body.data.result
    .map((series) => Number(sumOf({ ...body, data: { ...body.data, result: [series] } })))
    .sort((a, b) => b - a);
  const sum = totals.reduce((a, b) => a + b, 0);
  t.ok(totals.filter((total) => total === 0).length > 0, "idle ones");
  t.ok(totals.slice(0, 5).reduce((a, b) => a + b, 0) > sum / 3, "heavy ones");
});

t.test("there are no samples before the history and in the future", async (t) => {
  const { runQuery } = await simulator(t, { days: 10 });
  const query = `sum(${LOG_SIZE})`;
  const samples = async (day: string) =>
    (await runQuery(query, day)).body.data.result.flatMap(({ values }) => values).length;
  t.equal(await samples("2026-02-27"), 0);
  t.equal(await samples("2026-02-28"), 24);
  t.equal(await samples("2026-03-10"), 15);
  t.equal(await samples("2026-03-11"), 0);
});

t.test("unsupported queries return bad_data", async (t) => {
  const { runQuery, url } = await simulator(t);
  for (const query of [
    "",
    "sum(",
    "a + b",
    `topk(3, ${KAFKA_BYTES_IN})`,
    `increase(${KAFKA_BYTES_IN})`,
    `${KAFKA_BYTES_IN}{a=b}`,
  ]) {
    const { status, body } = await runQuery(query);
    holds(t, [status, body.errorType], [400, "bad_data"], query);
  }
  const many = new URLSearchParams({ query: LOG_SIZE, start: "0", end: "11000", step: "1" });
  t.equal((await fetch(`${url}/api/v1/query_range?${many}`)).status, 400, "too many points");
  t.equal((await fetch(`${url}/api/v1/labels`)).status, 404);
});

t.test("selectors are parsed like PromQL", async (t) => {
  const matching = (query: string, labels: Record<string, string>) => parseQuery(query).matches(labels);
  t.ok(matching('x{a="1", b!="2"}', { a: "1" }));
  t.notOk(matching('x{a="1"}', { a: "2" }));
  t.ok(matching('x{a=~"or.*"}', { a: "orders" }));
  t.notOk(matching('x{a=~"or"}', { a: "orders" }), "regular expressions are anchored");
  t.ok(matching('x{a!~"p.*",}', { a: "orders" }));
  t.ok(matching(String.raw`x{a="q\"\\,}"}`, { a: 'q"\\,}' }), "escapes are decoded");
  holds(t, parseQuery("sum(increase(x[2h])) by (a, b)"), {
    aggregation: { name: "sum", by: ["a", "b"] },
    over: { name: "increase", seconds: 7200 },
  });
  for (const [range, seconds] of Object.entries({
    "1h": 3600,
    "3599999ms": 3600,
    "1d": 86_400,
  })) {
    t.equal(parseQuery(`sum_over_time(x[${range}])`).over?.seconds, seconds, range);
  }
  t.strictSame(parseQuery('x{a="1",b=~"2|3-4",c=~"5.*",d!="6"}').listed, { a: ["1"], b: ["2", "3-4"] });
  t.throws(() => parseQuery('x{a=~"("}'), { message: "a regular expression cannot be read" });
});

t.test("a revision changes one day, a missing day has no samples, and both can be undone", async (t) => {
  const { runQuery, setFaults } = await simulator(t);
  const query = `sum(increase(${KAFKA_BYTES_IN}[1h]))`;
  const before = (await runQuery(query)).body;
  setFaults([{ kind: "revision", day: "2026-03-05", factor: 2 }]);
  t.equal(sumOf((await runQuery(query)).body), 2n * sumOf(before));
  t.ok(sumOf((await runQuery(query, "2026-03-06")).body) > 0n);
  setFaults([{ kind: "missing_days", days: ["2026-03-05"] }]);
  t.same((await runQuery(query)).body.data.result, []);
  setFaults([]);
  t.same((await runQuery(query)).body, before);
});

t.test("every size has its number of tenants", async (t) => {
  for (const size of Object.keys(sizes) as Size[]) {
    const tenants = simulatedTenants({ size, url: "http://127.0.0.1:9" });
    t.equal(tenants.length, sizes[size].tenants, size);
    t.equal(new Set(tenants.map(({ tenant_id }) => tenant_id)).size, tenants.length);
  }
});
