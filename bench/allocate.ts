/**
 * Benchmark of allocation as in a run, from lines and usage facts to published chargebacks, with the conservation
 * check, the dimensions and the swap. It is compared with an `INSERT … SELECT` of the same rows into an equal table,
 * which is the lower bound of writing them.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { RuleSet } from "../src/allocate/rules.js";
import { stagedTable } from "../src/clickhouse/staging.js";
import type { RunStores, TenantStore } from "../src/stores/stores.js";
import { type AllocationRun, allocateAll, type Stage } from "./allocation-run.js";
import { countRows, settle } from "./dataset.js";
import { type Figure, median, once, watchProcess } from "./measure.js";
import { allDays } from "./organisation.js";
import { FEE, plainRules, stagedRules } from "./rules.js";

export interface AllocateBench {
  readonly benchmark: "allocate" | "mix";
  readonly rules: RuleSet;
  readonly stores: RunStores;
  readonly store: TenantStore;
  readonly repeat: number;
  readonly enginePid: number | undefined;
}

export async function benchAllocate(bench: AllocateBench): Promise<Figure[]> {
  const { benchmark, rules, stores, store, repeat, enginePid } = bench;
  const runs: AllocationRun[] = [];
  const peaks: number[] = [];
  const processor: number[] = [];
  const plain: number[] = [];
  for (let turn = 0; turn < repeat; turn++) {
    await settle(store.client);
    const engine = watchProcess(enginePid);
    runs.push(await allocateAll(stores, store, rules));
    engine.stop();
    peaks.push(engine.peak());
    processor.push(engine.cpuSeconds());
    await settle(store.client);
    plain.push(await plainCopy(store.client, allDays));
  }
  const seconds = median(runs.map((run) => run.seconds));
  const rows = runs[0]?.rows ?? 0;
  const copied = median(plain) / 1000;
  const figure = (name: string, value: number, unit: Figure["unit"], more: Partial<Figure> = {}): Figure => ({
    benchmark,
    name,
    value,
    unit,
    ...more,
  });
  const stage = (name: Stage) =>
    figure(`${name}`, median(runs.map((run) => run.stages[name])), "s", {
      note: `${Math.round(rows / median(runs.map((run) => run.stages[name]))).toLocaleString("en")} rows/s`,
    });
  return [
    figure("rows published", rows, "rows", { note: `in ${runs[0]?.batches} batches` }),
    figure("in all", rows / seconds, "rows/s", { target: { at: "least", value: 1_000_000 } }),
    ...(["allocate", "check", "dimensions", "publish", "other"] as const).map(stage),
    figure("engine processor time", median(processor), "s", {
      note: `${Math.round(rows / median(processor)).toLocaleString("en")} rows a processor second`,
    }),
    figure("engine memory, peak", Math.max(...peaks), "MiB", { target: { at: "most", value: 1536 } }),
    figure("plain INSERT … SELECT", rows / copied, "rows/s"),
    figure("allocate / plain insert, time", seconds / copied, "ratio"),
  ];
}

/**
 * One line in a hundred is allocated in a second stage, or none is. The runs alternate. Both rewrite the lines' rule
 * beforehand, so that they read the same parts.
 */
export async function benchStages({
  stores,
  store,
  repeat,
  enginePid,
}: Omit<AllocateBench, "benchmark" | "rules">): Promise<Figure[]> {
  const setRule = (rule: string) => async (client: ClickHouseClient, epoch: number) => {
    await client.command({
      query: `ALTER TABLE ${stagedTable("billing", epoch)} UPDATE rule = '${rule}' WHERE cityHash64(resource_id, product_type) % 100 = 0`,
      clickhouse_settings: { mutations_sync: "1" },
    });
  };
  const measure = async (rules: RuleSet, rule: string) => {
    await settle(store.client);
    let engine = watchProcess(enginePid);
    const run = await allocateAll(stores, store, rules, async (client, epoch) => {
      await setRule(rule)(client, epoch);
      engine.stop();
      engine = watchProcess(enginePid);
    });
    engine.stop();
    return { ...run, processor: engine.cpuSeconds() };
  };
  const without: Awaited<ReturnType<typeof measure>>[] = [];
  const withStage: typeof without = [];
  for (let turn = 0; turn < repeat; turn++) {
    without.push(await measure(plainRules, ""));
    withStage.push(await measure(stagedRules, FEE));
  }
  const split = await countRows(
    store.client,
    `chargebacks WHERE rule = '${FEE}' AND allocation_method = 'cost_ratio'`,
  );
  const seconds = (runs: typeof without) => median(runs.map((run) => run.seconds));
  const processor = (runs: typeof without) => median(runs.map((run) => run.processor));
  const figure = (name: string, value: number, unit: Figure["unit"], more: Partial<Figure> = {}): Figure => ({
    benchmark: "stages",
    name,
    value,
    unit,
    ...more,
  });
  return [
    figure("rows published", withStage[0]?.rows ?? 0, "rows", { note: `${split} of stage 2` }),
    figure("without a second stage", seconds(without), "s"),
    figure("with it", seconds(withStage), "s"),
    figure("with it / without", seconds(withStage) / seconds(without), "ratio", {
      target: { at: "most", value: 1.15 },
    }),
    figure("engine processor time, with it / without", processor(withStage) / processor(without), "ratio"),
  ];
}

/** Copies the published rows of the days in batches as large as the allocation's. Returns milliseconds. */
export async function plainCopy(client: ClickHouseClient, days: readonly string[]): Promise<number> {
  await client.command({ query: "CREATE OR REPLACE TABLE bench_plain AS chargebacks" });
  const ms = await once(async () => {
    for (let from = 0; from < days.length; from += 10) {
      await client.command({
        query: "INSERT INTO bench_plain SELECT * FROM chargebacks WHERE day IN {days:Array(Date)}",
        query_params: { days: days.slice(from, from + 10) },
        clickhouse_settings: {
          max_partitions_per_insert_block: "1000",
          min_insert_block_size_rows: "2500000",
          min_insert_block_size_bytes: "536870912",
        },
      });
    }
  });
  await client.command({ query: "DROP TABLE bench_plain SYNC" });
  return ms;
}
