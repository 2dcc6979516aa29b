/** The simulator is itself believable: deterministic, and speaking as Prometheus does. */
import t, { type Test } from "tap";
import { type Size, sizes } from "../../src/simulator/organisation.js";
import { parseQuery } from "../../src/simulator/selector.js";
import { BYTES_IN, LOG_SIZE } from "../../src/simulator/series.js";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.js";
import { simulatedTenants } from "../../src/simulator/tenants.js";
import { holds } from "../holds.js";

const now = () => Date.parse("2026-03-10T15:30:00Z");
const midnight = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

interface Answer {
  status: string;
  errorType?: string;
  data: { resultType: string; result: { metric: Record<string, string>; values: [number, string][] }[] };
}

async function simulator(t: Test, options: SimulatorOptions = {}) {
  const running = await startSimulator({ size: "tiny", now, ...options });
  t.teardown(() => running.close());
  const ask = async (query: string, day = "2026-03-05", method: "GET" | "POST" = "POST") => {
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
    return { status: response.status, answer: (await response.json()) as Answer };
  };
  return { ...running, ask };
}

const sumOf = (answer: Answer) =>
  answer.data.result.flatMap(({ values }) => values).reduce((sum, [, value]) => sum + BigInt(value), 0n);

t.test("it is ready, and answers GET as it does POST", async (t) => {
  const { url, ask } = await simulator(t);
  t.equal((await fetch(`${url}/-/ready`)).status, 200);
  const query = `sum(${LOG_SIZE})`;
  t.same(await ask(query, "2026-03-05", "GET"), await ask(query));
});

t.test("one seed is one organisation, another seed another", async (t) => {
  const query = `sum by (principal) (increase(${BYTES_IN}[1h]))`;
  const [first, second, other] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await (await simulator(t, { seed })).ask(query)).answer),
  );
  t.same(first, second);
  t.notSame(first, other);
});

t.test("what the principals move adds up to what the cluster moves", async (t) => {
  const { ask } = await simulator(t, { size: "small" });
  const one = `increase(${BYTES_IN}{cluster="kafka-orders"}[1h])`;
  const whole = (await ask(`sum(${one})`)).answer;
  const parts = (await ask(`sum by (principal) (${one})`)).answer;
  t.ok(sumOf(whole) > 0n);
  t.equal(sumOf(whole), sumOf(parts));
  t.equal(whole.data.result.length, 1);
  t.ok(parts.data.result.length > 30);
});

t.test("some rest on some days, a few move most", async (t) => {
  const { ask } = await simulator(t, { size: "small" });
  const { answer } = await ask(`sum by (principal) (increase(${BYTES_IN}{cluster="kafka-orders"}[1h]))`);
  const totals = answer.data.result
    .map((series) => Number(sumOf({ ...answer, data: { ...answer.data, result: [series] } })))
    .sort((a, b) => b - a);
  const sum = totals.reduce((a, b) => a + b, 0);
  t.ok(totals.filter((total) => total === 0).length > 0, "idle ones");
  t.ok(totals.slice(0, 5).reduce((a, b) => a + b, 0) > sum / 3, "heavy ones");
});

t.test("there is no history before its beginning, and no future", async (t) => {
  const { ask } = await simulator(t, { days: 10 });
  const query = `sum(${LOG_SIZE})`;
  const samples = async (day: string) =>
    (await ask(query, day)).answer.data.result.flatMap(({ values }) => values).length;
  t.equal(await samples("2026-02-27"), 0);
  t.equal(await samples("2026-02-28"), 24);
  t.equal(await samples("2026-03-10"), 15);
  t.equal(await samples("2026-03-11"), 0);
});

t.test("what it does not understand is bad_data", async (t) => {
  const { ask, url } = await simulator(t);
  for (const query of [
    "",
    "sum(",
    "a + b",
    `topk(3, ${BYTES_IN})`,
    `increase(${BYTES_IN})`,
    `${BYTES_IN}{a=b}`,
  ]) {
    const { status, answer } = await ask(query);
    holds(t, [status, answer.errorType], [400, "bad_data"], query);
  }
  const many = new URLSearchParams({ query: LOG_SIZE, start: "0", end: "11000", step: "1" });
  t.equal((await fetch(`${url}/api/v1/query_range?${many}`)).status, 400, "too many points");
  t.equal((await fetch(`${url}/api/v1/labels`)).status, 404);
});

t.test("selectors", async (t) => {
  const matching = (query: string, labels: Record<string, string>) => parseQuery(query).matches(labels);
  t.ok(matching('x{a="1", b!="2"}', { a: "1" }));
  t.notOk(matching('x{a="1"}', { a: "2" }));
  t.ok(matching('x{a=~"or.*"}', { a: "orders" }));
  t.notOk(matching('x{a=~"or"}', { a: "orders" }), "anchored");
  t.ok(matching('x{a!~"p.*",}', { a: "orders" }));
  t.ok(matching(String.raw`x{a="q\"\\,}"}`, { a: 'q"\\,}' }), "escapes");
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

t.test("a revision changes one day, a missing day has no samples, and both can be taken back", async (t) => {
  const { ask, setFaults } = await simulator(t);
  const query = `sum(increase(${BYTES_IN}[1h]))`;
  const before = (await ask(query)).answer;
  setFaults([{ kind: "revision", day: "2026-03-05", factor: 2 }]);
  t.equal(sumOf((await ask(query)).answer), 2n * sumOf(before));
  t.ok(sumOf((await ask(query, "2026-03-06")).answer) > 0n);
  setFaults([{ kind: "missing_days", days: ["2026-03-05"] }]);
  t.same((await ask(query)).answer.data.result, []);
  setFaults([]);
  t.same((await ask(query)).answer, before);
});

t.test("every size has the tenants and principals that it says", async (t) => {
  for (const size of Object.keys(sizes) as Size[]) {
    const tenants = simulatedTenants({ size, url: "http://127.0.0.1:9" });
    t.equal(tenants.length, sizes[size].tenants, size);
    t.equal(new Set(tenants.map(({ tenant_id }) => tenant_id)).size, tenants.length);
  }
});
