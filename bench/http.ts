/**
 * Benchmark of the HTTP API under load: reads by 1, 8 and 64 clients at once, on an otherwise idle service and on one
 * that runs another tenant's pipeline; and the effect of continuous aggregations on `/health`.
 */
import { commonIdentity } from "./aggregate.js";
import type { Bench, Benchmark } from "./benchmark.js";
import { readAll } from "./http-client.js";
import { type BenchLoad, percentile, putLoad } from "./load.js";
import type { Figure } from "./measure.js";
import { allDays } from "./organisation.js";
import { startServiceWithRun } from "./service-with-run.js";

const CONNECTIONS = [1, 8, 64] as const;

/** Many slow clients, so that a late response does not delay the next request. */
const HEALTH_CHECKS = { connections: 10, rate: 10 } as const;
/** The number that one of several tenants may run at once, plus one that waits. */
const AGGREGATING = 4;

const window = `start_date=${allDays[0]}&end_date=${allDays.at(-1)}`;

export const benchHttp: Benchmark = async (bench) => {
  const { say, seconds } = bench;
  const service = await startServiceWithRun(bench);
  try {
    const base = `${service.url}/api/v1/tenants/${bench.store.tenantName}`;
    const health = `${service.url}/health`;
    const reads = await readsOf(bench, base);
    const figures: Figure[] = [];

    for (const { name, url } of reads) {
      say(`http: ${name}, idle service`);
      await warmUp(url);
      for (const connections of CONNECTIONS)
        figures.push(
          figureOf(`idle: ${name}, ${clients(connections)}`, await putLoad(url, { connections, seconds })),
        );
    }

    say("http: /health");
    await putLoad(health, { ...HEALTH_CHECKS, seconds: 1 });
    const idle = await putLoad(health, { ...HEALTH_CHECKS, seconds });
    // Grouped by columns that no table of sums has, so each request reads all rows.
    const all = `${base}/chargebacks/aggregate?${window}&group_by=identity_id&group_by=product_type&group_by=cost_type`;
    const [aggregating, busy] = await Promise.all([
      putLoad(all, { connections: AGGREGATING, seconds: seconds + 2 }),
      after(1000, () => putLoad(health, { ...HEALTH_CHECKS, seconds })),
    ]);
    figures.push(...healthFigures(idle, busy, aggregating));

    await service.run();
    for (const { name, url } of reads) {
      say(`http: ${name}, during a run`);
      await warmUp(url);
      for (const connections of CONNECTIONS) {
        const before = await service.isRunning();
        const load = await putLoad(url, { connections, seconds });
        const figure = figureOf(`during a run: ${name}, ${clients(connections)}`, load);
        const throughout = before && (await service.isRunning());
        figures.push(throughout ? figure : { ...figure, value: Number.NaN, note: "the run had ended" });
      }
    }
    return figures;
  } finally {
    await service.stop();
  }
};

/** Sends one request to fill the caches. */
async function warmUp(url: string): Promise<void> {
  await (await fetch(url)).arrayBuffer();
}

async function readsOf({ store }: Bench, base: string): Promise<{ name: string; url: string }[]> {
  const identity_id = await commonIdentity(store.client);
  const [day] = allDays;
  await readAll(`${base}/tags/bulk-by-filter`, {
    tag_key: "bench",
    display_name: "Measured",
    created_by: "bench",
    start_date: day,
    end_date: day,
    identity_id,
  });
  const response = await fetch(`${base}/tags`);
  const { items } = (await response.json()) as { items: { dimension_id: number }[] };
  return [
    { name: "list, page 1, kept", url: `${base}/chargebacks?${window}` },
    { name: "one dimension", url: `${base}/chargebacks/${items[0]?.dimension_id}` },
    { name: "default aggregate", url: `${base}/chargebacks/aggregate?${window}` },
    { name: "tags of the tenant", url: `${base}/tags` },
  ];
}

const clients = (count: number) => (count === 1 ? "1 connection" : `${count} connections`);

/** Returns the median, with the other values in the note; NaN if there were no responses in time. */
function figureOf(name: string, { durations, perSecond, others, broken }: BenchLoad): Figure {
  const p95 = percentile(durations, 0.95);
  const p99 = percentile(durations, 0.99);
  const note = [
    `p95 ${ms(p95)}, p99 ${ms(p99)}; ${perSecond.toFixed(perSecond < 10 ? 1 : 0)} requests/s`,
    ...Object.entries(others).map(([status, times]) => `${status} ${times} times`),
    ...(broken > 0 ? [`${broken} broken off`] : []),
  ].join("; ");
  const details = { p95, p99, requests_per_second: perSecond, not_2xx: sum(others), broken };
  return { benchmark: "http", name, value: percentile(durations, 0.5), unit: "ms", note, details };
}

function healthFigures(idle: BenchLoad, busy: BenchLoad, aggregating: BenchLoad): Figure[] {
  const figure = (name: string, load: BenchLoad): Figure => {
    const [p99, max] = [percentile(load.durations, 0.99), percentile(load.durations, 1)];
    const note = `p99 ${ms(p99)}, max ${ms(max)}; ${load.durations.length} responses`;
    const details = { p99, max, not_2xx: sum(load.others), broken: load.broken };
    return { benchmark: "http", name, value: percentile(load.durations, 0.5), unit: "ms", note, details };
  };
  const ratio = (name: string, part: number): Figure => ({
    benchmark: "http",
    name: `/health, aggregating / idle, ${name}`,
    value: percentile(busy.durations, part) / percentile(idle.durations, part),
    unit: "ratio",
  });
  const during = figure("/health while aggregating all rows", busy);
  const aggregated = `${AGGREGATING} aggregations at once, ${aggregating.durations.length} completed`;
  return [
    figure("/health, idle", idle),
    { ...during, note: `${during.note}; ${aggregated}` },
    ratio("p50", 0.5),
    ratio("p99", 0.99),
  ];
}

function sum(counts: Readonly<Record<number, number>>): number {
  return Object.values(counts).reduce((total, each) => total + each, 0);
}

function ms(value: number): string {
  return Number.isNaN(value) ? "unknown" : `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

async function after<T>(milliseconds: number, run: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return await run();
}
