/**
 * Benchmark of gathering, from the bytes of Prometheus' responses to rows in the staging tables: processor time of the
 * service and the engine, without any upstream. Compared with `JSON.parse` of the same bytes, and with the engine
 * reading them.
 */
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { claimStaging, stagedTable } from "../src/clickhouse/staging.js";
import { addDays, daysOfWindow, midnightSeconds } from "../src/common/days.js";
import { measure } from "../src/ingest/ecosystems/confluent_cloud/usage/measure.js";
import { gatherMeteredUsage } from "../src/ingest/metered/usage.js";
import { createPrometheusSource, type PrometheusSource } from "../src/ingest/prometheus/source.js";
import { createStagingSink, type StagingSink } from "../src/ingest/staging/staging-sink.js";
import { createStagingWriter } from "../src/ingest/staging/staging-writer.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { UpstreamClient } from "../src/upstream/http/client.js";
import { countRows } from "./dataset.js";
import { type Figure, median, watchProcess } from "./measure.js";

export const gatherBenchTenant = "bench_gather";

const EPOCH = 1;
const STEP_SECONDS = 3600;
const CLUSTERS = 100;
const PRINCIPALS_A_CLUSTER = 20;
const METRICS = 4;
/** As many as fit into a response of 8 MiB. */
const DAYS = 5;
const window = { start: "2026-01-01", end: addDays("2026-01-01", DAYS) };
const clusters = Array.from({ length: CLUSTERS }, (_, index) => `lkc-${idText(index)}`);
const metrics = Array.from({ length: METRICS }, (_, index) => `metric_${index}`);

/** `whole`: bytes as in a counter of deltas. `extrapolated`: the result of `increase`, with all digits of a float. */
type Values = "whole" | "extrapolated";

const cases: readonly { readonly name: string; readonly values: Values; readonly gather: Gather }[] = [
  { name: "Confluent Cloud, whole numbers", values: "whole", gather: gatherConfluent },
  { name: "metered, numbers of 16 digits", values: "extrapolated", gather: gatherMetered },
];

export async function benchGather(
  { stores, repeat }: { readonly stores: OpenedStores; readonly repeat: number },
  sizes: Record<string, number>,
): Promise<Figure[]> {
  const { client } = await stores.tenant(gatherBenchTenant);
  const enginePid = stores.embeddedClickHouse?.pid();
  await claimStaging(client, EPOCH);
  const figures: Figure[] = [];
  for (const { name, values, gather } of cases) {
    const responses = new Map(metrics.map((metric, index) => [metric, responseOf(index, values)]));
    const turns: Turn[] = [];
    // One extra turn, because the first does not count.
    for (let turn = 0; turn <= repeat; turn++) {
      turns.push({
        gathering: await gatheringTime(client, enginePid, responses, gather),
        parsing: await processorTime(enginePid, () => parseAll(responses)),
        engine: await engineTime(client, enginePid, responses),
      });
    }
    sizes.series = CLUSTERS * PRINCIPALS_A_CLUSTER * METRICS;
    sizes.samples = await countRows(client, stagedTable("usage", EPOCH));
    sizes[`MiB of responses, ${values}`] = mebibytes(responses);
    figures.push(...figuresOf(name, turns.slice(1)));
  }
  return figures;
}

/** Seconds of processor time. */
interface Spent {
  readonly service: number;
  readonly engine: number;
}

interface Turn {
  readonly gathering: Spent;
  readonly parsing: Spent;
  readonly engine: Spent;
}

function figuresOf(name: string, turns: readonly Turn[]): Figure[] {
  const benchmark = "gather";
  const total = ({ service, engine }: Spent) => service + engine;
  const of = (value: (turn: Turn) => number) => median(turns.map(value));
  const note = `service ${of(({ gathering }) => gathering.service).toFixed(2)}, engine ${of(({ gathering }) => gathering.engine).toFixed(2)}`;
  return [
    {
      benchmark,
      name: `${name}: processor time`,
      value: of(({ gathering }) => total(gathering)),
      unit: "s",
      note,
    },
    {
      benchmark,
      name: `${name}: / JSON.parse of the responses`,
      value: of(({ gathering, parsing }) => total(gathering) / parsing.service),
      unit: "ratio",
    },
    {
      benchmark,
      name: `${name}: / the engine reading them, adding up floats`,
      value: of(({ gathering, engine }) => total(gathering) / total(engine)),
      unit: "ratio",
    },
  ];
}

async function processorTime(
  enginePid: number | undefined,
  run: () => Promise<unknown> | unknown,
): Promise<Spent> {
  const engine = watchProcess(enginePid);
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  engine.stop();
  return { service: (user + system) / 1e6, engine: engine.cpuSeconds() };
}

type Gather = (source: PrometheusSource, sink: StagingSink) => Promise<unknown>;
type Responses = ReadonlyMap<string, Buffer>;

async function gatheringTime(
  client: ClickHouseClient,
  enginePid: number | undefined,
  responses: Responses,
  gather: Gather,
): Promise<Spent> {
  await client.command({ query: `TRUNCATE TABLE ${stagedTable("usage", EPOCH)} SYNC` });
  const source = createPrometheusSource(respondingWith(responses), pino({ level: "silent" }));
  const { signal } = new AbortController();
  const writer = createStagingWriter({ client, epoch: EPOCH, prepare: async () => undefined, signal });
  const sink = createStagingSink({ window, ecosystem: "bench", tenantId: "bench", writer });
  return await processorTime(enginePid, async () => {
    await gather(source, sink);
    await writer.finish();
  });
}

/** Returns prepared bytes for each expression. */
function respondingWith(responses: Responses): UpstreamClient {
  return {
    request: async ({ decode, form }) => {
      const body = responses.get(form?.query ?? "");
      if (body === undefined) throw new Error(`no response to ${form?.query}`);
      return decode(body);
    },
    shown: (text) => text,
    close: () => undefined,
  };
}

async function gatherConfluent(source: PrometheusSource, sink: StagingSink): Promise<void> {
  const wanted = new Map(daysOfWindow(window).map((day) => [day, new Set(clusters)]));
  for (const metric of metrics) {
    const measurement = {
      metric,
      expression: metric,
      among: { resources: clusters, expressionOf: () => metric },
      window,
      stepSeconds: STEP_SECONDS,
      onResponse: () => undefined,
      wanted,
      resourceLabel: "kafka_id",
      ownerOf: (labels: Readonly<Record<string, string>>) => () => labels.principal_id || null,
      unnamed: "nobodys" as const,
      keepsZeros: true,
    };
    await measure(source, measurement, sink, refuse, new AbortController().signal);
  }
}

async function gatherMetered(source: PrometheusSource, sink: StagingSink): Promise<void> {
  for (const metric of metrics) {
    const query = {
      metric,
      expression: metric,
      label: "principal_id",
      measure: "value",
      of: { resource: "cluster" },
      window,
      stepSeconds: STEP_SECONDS,
    } as const;
    await gatherMeteredUsage(source, query, sink, refuse, new AbortController().signal);
  }
}

function refuse(reason: string): void {
  throw new Error(`a sample was dropped: ${reason}`);
}

function parseAll(responses: Responses): void {
  for (const body of responses.values()) JSON.parse(body.toString("utf8"));
}

const RAW = "bench_responses";

/** A lower bound: floats, no checks, and nothing is written. */
async function engineTime(
  client: ClickHouseClient,
  enginePid: number | undefined,
  responses: Responses,
): Promise<Spent> {
  await client.command({ query: `CREATE OR REPLACE TABLE ${RAW} (response String) ENGINE = Memory` });
  return await processorTime(enginePid, async () => {
    for (const body of responses.values()) {
      const { stream } = await client.exec({
        query: `INSERT INTO ${RAW} FORMAT JSONAsString`,
        values: Readable.from([body], { objectMode: false }),
      });
      stream.resume();
    }
    await countRows(
      client,
      `(
SELECT metric['kafka_id'] AS resource, metric['principal_id'] AS identity, point.1 AS at, sum(toFloat64OrNull(point.2)) AS used
FROM (
  SELECT series.1 AS metric, arrayJoin(series.2) AS point
  FROM (
    SELECT arrayJoin(JSONExtract(response, 'data', 'result', 'Array(Tuple(metric Map(String, String), values Array(Tuple(UInt32, String))))')) AS series
    FROM ${RAW}
  )
)
GROUP BY ALL
) WHERE used >= 0`,
    );
  });
}

/** The response for one metric: a series for each principal of each cluster, with a sample per hour. */
function responseOf(metric: number, values: Values): Buffer {
  const first = midnightSeconds(window.start) + STEP_SECONDS;
  const points = Array.from({ length: 24 * DAYS }, (_, hour) => first + hour * STEP_SECONDS);
  const series = clusters.flatMap((kafka_id, cluster) =>
    Array.from({ length: PRINCIPALS_A_CLUSTER }, (_, rank) => {
      const principal = cluster * PRINCIPALS_A_CLUSTER + rank;
      const samples = points.map((point, hour) => [point, sampleText([metric, principal, hour], values)]);
      return { metric: { kafka_id, principal_id: `sa-${idText(principal)}` }, values: samples };
    }),
  );
  return Buffer.from(
    JSON.stringify({ status: "success", data: { resultType: "matrix", result: series } }),
    "utf8",
  );
}

/** Between 0.06 and 630 MB. */
function sampleText([metric, principal, hour]: [number, number, number], values: Values): string {
  const bytes = 630e6 * 10 ** (-4 * uniform(metric + 7 * principal + 100_003 * hour));
  return String(values === "whole" ? Math.floor(bytes) : bytes);
}

/** Returns a number from 0 to 1, the same for the same index. */
function uniform(index: number): number {
  const mixed = Math.imul(index ^ (index >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32;
}

function idText(index: number): string {
  return Math.imul(index + 1, 0x9e3779b1)
    .toString(36)
    .replace("-", "")
    .padStart(6, "0")
    .slice(0, 6);
}

function mebibytes(responses: Responses): number {
  const bytes = [...responses.values()].reduce((sum, body) => sum + body.length, 0);
  return Math.round(bytes / 2 ** 20);
}
