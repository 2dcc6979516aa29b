/**
 * `npm run bench`: makes the data, runs the requested benchmarks, prints a table and writes JSON. Slow results never
 * fail it.
 */
import { writeFileSync } from "node:fs";
import { dayOf } from "../src/common/days.js";
import { benchAggregate } from "./aggregate.js";
import { benchAllocate, benchStages } from "./allocate.js";
import { allocateAll } from "./allocation-run.js";
import { type BenchArguments, readArguments, usageText } from "./arguments.js";
import { benchArrival } from "./arrival.js";
import { benchBackfill } from "./backfill.js";
import type { Bench, Benchmark } from "./benchmark.js";
import { benchConsole } from "./console.js";
import { countRows, makeFacts, settle } from "./dataset.js";
import { benchDisk } from "./disk.js";
import { benchExplain, explainedTenant } from "./explain.js";
import { benchExport } from "./export.js";
import { benchFocus } from "./focus.js";
import { benchGather, gatherBenchTenant } from "./gather.js";
import { benchHttp } from "./http.js";
import { benchList } from "./list.js";
import { describeMachine } from "./machine.js";
import type { Figure } from "./measure.js";
import { reportJson, reportTable } from "./report.js";
import { mixedRules, plainRules } from "./rules.js";
import { type BenchService, startBenchService, warmUp } from "./service.js";
import { benchStart } from "./start.js";
import { type BenchStores, openBenchStores, tenantName } from "./stores.js";
import { benchTags, taggedTenant } from "./tags.js";
import { benchTenants } from "./tenants.js";

/** The most rows on which allocation is measured: 1 M lines × 20 M usage facts. */
const MOST_ALLOCATED = 20_000_000;

/** Usage facts per metric, identity and day in the mix, like a metric that is gathered every six hours. */
const MIXED_SAMPLES_A_DAY = 4;
const mixedTenant = (rows: number) => `bench_mix_${rows}`;

const allocations = ["allocate", "mix"] as const;

const readers = {
  disk: benchDisk,
  aggregate: benchAggregate,
  list: benchList,
  export: benchExport,
  http: benchHttp,
  console: benchConsole,
} satisfies Record<string, Benchmark>;

const say = (text: string) =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function main(args: BenchArguments): Promise<void> {
  const allocated = Math.min(args.rows, MOST_ALLOCATED);
  const opened = await openBenchStores([args.rows, allocated], args.data, [
    taggedTenant,
    gatherBenchTenant,
    explainedTenant,
    mixedTenant(allocated),
  ]);
  const figures: Figure[] = [];
  const sizes: Record<string, number> = {};
  try {
    const { client } = await opened.stores.tenant(tenantName(args.rows));
    const machine = await describeMachine(client);
    for (const benchmark of allocations)
      if (args.only.includes(benchmark))
        figures.push(...(await runAllocate(opened, allocated, { benchmark, repeat: args.repeat, sizes })));
    if (args.only.includes("stages")) {
      say(`stages: making facts for ${allocated} rows`);
      const store = await opened.stores.tenant(tenantName(allocated));
      await makeFacts(store, allocated);
      say("stages");
      figures.push(
        ...(await benchStages({
          stores: opened.stores,
          store,
          repeat: args.repeat,
          enginePid: opened.stores.embeddedClickHouse?.pid(),
        })),
      );
    }
    if (args.only.some((name) => name in readers)) figures.push(...(await runReaders(opened, args, sizes)));
    if (args.only.includes("tags")) {
      say("tags");
      figures.push(...(await benchTags({ ...opened, repeat: args.repeat, say })));
    }
    if (args.only.includes("explain")) {
      say("explain");
      figures.push(...(await benchExplain({ ...opened, repeat: args.repeat, say })));
    }
    if (args.only.includes("start")) {
      say("start");
      figures.push(...(await benchStart(args.repeat)));
    }
    if (args.only.includes("gather")) {
      say("gather");
      figures.push(...(await benchGather({ ...opened, repeat: args.repeat }, sizes)));
    }
    if (args.only.includes("backfill")) figures.push(...(await benchBackfill(args, sizes, say)));
    if (args.only.includes("focus")) figures.push(...(await benchFocus(args, sizes, say)));
    if (args.only.includes("arrival")) figures.push(...(await benchArrival(args, sizes, say)));
    if (args.only.includes("tenants")) {
      sizes.tenants = args.tenants;
      figures.push(...(await benchTenants(args, say)));
    }
    const measured_on = dayOf(new Date());
    const report = { command: args.command, measured_on, machine, sizes, repeat: args.repeat, figures };
    process.stdout.write(reportTable(report));
    if (args.json !== undefined) writeFileSync(args.json, reportJson(report));
  } finally {
    await opened.close();
  }
}

interface AllocateOptions {
  readonly benchmark: (typeof allocations)[number];
  readonly repeat: number;
  readonly sizes: Record<string, number>;
}

async function runAllocate(
  { stores }: BenchStores,
  rows: number,
  { benchmark, repeat, sizes }: AllocateOptions,
): Promise<Figure[]> {
  const mixed = benchmark === "mix";
  const store = await stores.tenant(mixed ? mixedTenant(rows) : tenantName(rows));
  say(`${benchmark}: making facts for ${rows} rows`);
  const made = await makeFacts(store, rows, mixed ? MIXED_SAMPLES_A_DAY : 1);
  sizes[`${benchmark}: lines`] = made.lines;
  sizes[`${benchmark}: usage facts`] = made.facts;
  say(benchmark);
  const rules = mixed ? mixedRules : plainRules;
  const enginePid = stores.embeddedClickHouse?.pid();
  return await benchAllocate({ benchmark, rules, stores, store, repeat, enginePid });
}

async function runReaders(
  { stores, folder }: BenchStores,
  args: BenchArguments,
  sizes: Record<string, number>,
): Promise<Figure[]> {
  const store = await stores.tenant(tenantName(args.rows));
  say(`making facts for ${args.rows} rows`);
  await makeFacts(store, args.rows);
  if ((await countRows(store.client, "chargebacks")) === 0) {
    say("allocating them");
    await allocateAll(stores, store, plainRules);
  }
  await settle(store.client);
  const rows = await countRows(store.client, "chargebacks");
  sizes.chargebacks = rows;
  let service: Promise<BenchService> | undefined;
  const startWarm = async () => {
    const started = await startBenchService(stores, store, folder);
    await warmUp(started, store.tenantName);
    return started;
  };
  const bench: Bench = {
    stores,
    store,
    rows,
    repeat: args.repeat,
    seconds: args.seconds,
    enginePid: stores.embeddedClickHouse?.pid(),
    folder,
    service: () => {
      service ??= startWarm();
      return service;
    },
    say,
  };
  const figures: Figure[] = [];
  try {
    for (const [name, run] of Object.entries(readers)) {
      if (!args.only.some((wanted) => wanted === name)) continue;
      say(name);
      figures.push(...(await run(bench)));
    }
  } finally {
    await (await service)?.stop();
  }
  return figures;
}

const typed = process.argv.slice(2);
if (typed.includes("--help")) process.stdout.write(`${usageText}\n`);
else await main(readArguments(typed));
