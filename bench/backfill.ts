/**
 * Benchmark of the first gather of a Confluent Cloud organisation, of 200 days by default, and of a second one that
 * finds nothing new. The service's code runs in this process with embedded engines, the simulated vendor in another
 * process.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { openStores } from "../src/stores/open-stores.js";
import type { BenchArguments } from "./arguments.js";
import { type BackfillStage, type MeasuredRun, measuredRun, type StageTime, stages } from "./backfill-run.js";
import { type BackfillUpstream, startUpstream } from "./backfill-upstream.js";
import { countRows } from "./dataset.js";
import { type Figure, median } from "./measure.js";

const ROWS_A_LINE = 10;
const IDENTITIES_A_LINE = 0.4;

/** `rows` is the approximate number of chargeback rows over all days. Adds the sizes of the data to `sizes`. */
export async function benchBackfill(
  { rows, days, repeat }: Pick<BenchArguments, "rows" | "days" | "repeat">,
  sizes: Record<string, number>,
  say: (text: string) => void,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-backfill-"));
  const lines = Math.max(50, Math.round(rows / days / ROWS_A_LINE));
  const identities = Math.max(10, Math.round(lines * IDENTITIES_A_LINE));
  try {
    const turns: Figure[][] = [];
    for (let turn = 0; turn < repeat; turn++) {
      const own = join(folder, String(turn));
      mkdirSync(own);
      const upstream = await startUpstream(own, { lines, identities, days });
      try {
        turns.push(await firstAndSecond(upstream, sizes, say));
      } finally {
        await upstream.stop();
        rmSync(own, { recursive: true, force: true });
      }
    }
    return medianFigures(turns);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures two runs on new stores: one that gathers everything, and one that finds nothing new. */
async function firstAndSecond(
  upstream: BackfillUpstream,
  sizes: Record<string, number>,
  say: (text: string) => void,
): Promise<Figure[]> {
  const tell = (stage: string) => say(`backfill: ${stage}`);
  const stores = await openStores({ config: upstream.config, logger: pino({ level: "warn" }) });
  try {
    const { client } = await stores.tenant(upstream.tenantName);
    const first = complete(await measuredRun(upstream, stores, tell));
    for (const table of ["billing", "usage", "identity_sets", "chargebacks", "topic_attributions"]) {
      sizes[table] = await countRows(client, table);
    }
    const before = await written(client);
    const second = complete(await measuredRun(upstream, stores, tell));
    const after = await written(client);
    return [...ofFirst(first, sizes), ...ofSecond(second, before, after)];
  } finally {
    await stores.close();
  }
}

/** Returns the median of each figure over the turns, with the note of the turn nearest to it. */
function medianFigures(turns: readonly Figure[][]): Figure[] {
  return (turns[0] ?? []).map((_, index) => {
    const values = turns.flatMap((turn) => turn[index] ?? []);
    const middle = median(values.map(({ value }) => value));
    const [nearest] = values.toSorted((a, b) => Math.abs(a.value - middle) - Math.abs(b.value - middle));
    if (nearest === undefined) throw new Error("turns differ in their figures");
    return { ...nearest, value: middle };
  });
}

function complete(run: MeasuredRun): MeasuredRun {
  if (run.result.status !== "completed") throw new Error(JSON.stringify(run.result.errors.slice(0, 5)));
  return run;
}

function ofFirst(run: MeasuredRun, sizes: Readonly<Record<string, number>>): Figure[] {
  const benchmark = "backfill";
  const { wall } = run.stages["allocate and publish"];
  const written = (sizes.chargebacks ?? 0) + (sizes.topic_attributions ?? 0);
  return [
    ...stages.flatMap((stage) => stageFigures(benchmark, run, stage)),
    {
      benchmark,
      name: "chargebacks and attributions, calculated and published",
      value: written / wall,
      unit: "rows/s",
      target: { at: "least", value: 1_000_000 },
    },
    {
      benchmark,
      name: "memory of service, engine and Postgres, sum of peaks",
      value: run.servicePeak + run.enginePeak + run.postgresPeak,
      unit: "MiB",
      target: { at: "most", value: 4096 },
      note: `service ${Math.round(run.servicePeak)}, engine ${Math.round(run.enginePeak)}, Postgres ${Math.round(run.postgresPeak)}`,
    },
    processorTime(benchmark, run),
  ];
}

function ofSecond(run: MeasuredRun, before: Written, after: Written): Figure[] {
  const benchmark = "second run";
  const times = stages.map((stage) => run.stages[stage]);
  const sum = (of: (time: StageTime) => number) => times.reduce((total, time) => total + of(time), 0);
  return [
    ...stages.flatMap((stage) => stageFigures(benchmark, run, stage)),
    {
      benchmark,
      name: "beyond the upstream's responses",
      value: sum(({ wall, answering, paced }) => wall - answering - paced),
      unit: "s",
      note: `they took ${sum(({ answering }) => answering).toFixed(1)}`,
    },
    {
      benchmark,
      name: "the same, with reading the responses as they arrived",
      value: sum(({ wall, upstream, paced }) => wall - upstream - paced),
      unit: "s",
      target: { at: "most", value: 2 },
    },
    {
      benchmark,
      name: "rewritten partitions",
      value: [...after.parts].filter(([partition, content]) => before.parts.get(partition) !== content)
        .length,
      unit: "partitions",
      target: { at: "most", value: 0 },
    },
    {
      benchmark,
      name: "recreated staging tables, into which rows were staged",
      value: [...after.staging].filter((table) => !before.staging.has(table)).length,
      unit: "tables",
      target: { at: "most", value: 0 },
    },
    processorTime(benchmark, run),
  ];
}

function stageFigures(benchmark: string, run: MeasuredRun, stage: BackfillStage): Figure[] {
  const { wall, upstream, store, paced, busy } = run.stages[stage];
  const shown = (seconds: number) => seconds.toFixed(1);
  const note = `waiting for the upstream ${shown(upstream)}, its pace ${shown(paced)}; the stores ${shown(store)}; at work ${shown(busy)}`;
  const bounded = benchmark === "backfill" && stage === "allocate and publish";
  const target = bounded ? { target: { at: "most", value: 60 } as const } : {};
  return [{ benchmark, name: stage, value: wall, unit: "s", note, ...target }];
}

function processorTime(benchmark: string, { serviceCpu, engineCpu }: MeasuredRun): Figure {
  const note = `service ${serviceCpu.toFixed(1)}, engine ${engineCpu.toFixed(1)}`;
  return { benchmark, name: "processor time", value: serviceCpu + engineCpu, unit: "s", note };
}

/** State that a run can change. */
interface Written {
  readonly parts: ReadonlyMap<string, string>;
  /** Names of the existing staging tables. */
  readonly staging: ReadonlySet<string>;
}

async function written(client: ClickHouseClient): Promise<Written> {
  const tables = await client.query({
    query: `SELECT toString(uuid) AS uuid FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'staged_')`,
    format: "JSONEachRow",
  });
  const staging = await tables.json<{ uuid: string }>();
  return { parts: await parts(client), staging: new Set(staging.map(({ uuid }) => uuid)) };
}

/** Returns the parts of each published partition with their modification times. */
async function parts(client: ClickHouseClient): Promise<Map<string, string>> {
  const result = await client.query({
    query: `SELECT concat(table, ' ', partition) AS partition, toString(arraySort(groupArray((name, modification_time)))) AS parts
            FROM system.parts
            WHERE database = currentDatabase() AND active AND match(partition, '^\\\\d{4}-') AND NOT startsWith(table, 'staged_')
            GROUP BY table, partition`,
    format: "JSONEachRow",
  });
  const found = await result.json<{ partition: string; parts: string }>();
  return new Map(found.map((row) => [row.partition, row.parts]));
}
