/** `npm run bench`: makes the data, runs the benchmarks that were asked for, prints a table and writes JSON. Nothing here fails for being slow. */
import { writeFileSync } from "node:fs";
import { benchAggregate } from "./aggregate.js";
import { benchAllocate } from "./allocate.js";
import { allocateAll } from "./allocation-run.js";
import { type BenchArguments, readArguments } from "./arguments.js";
import { benchBackfill } from "./backfill.js";
import type { Bench, Benchmark } from "./benchmark.js";
import { count, makeFacts, settle } from "./dataset.js";
import { benchDisk } from "./disk.js";
import { benchExport } from "./export.js";
import { benchHttp } from "./http.js";
import { benchList } from "./list.js";
import { describeMachine } from "./machine.js";
import type { Figure } from "./measure.js";
import { reportJson, reportTable } from "./report.js";
import { type Service, startService } from "./service.js";
import { benchStart } from "./start.js";
import { type BenchStores, openBenchStores, tenantName } from "./stores.js";
import { benchTags, taggedTenant } from "./tags.js";

/** Allocation is measured on at most so many rows: 1 M lines × 20 M usage facts. */
const MOST_ALLOCATED = 20_000_000;

const readers = {
  disk: benchDisk,
  aggregate: benchAggregate,
  list: benchList,
  export: benchExport,
  http: benchHttp,
} satisfies Record<string, Benchmark>;

const say = (text: string) =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function main(args: BenchArguments): Promise<void> {
  const allocated = Math.min(args.rows, MOST_ALLOCATED);
  const opened = await openBenchStores([args.rows, allocated], args.data, [taggedTenant]);
  const figures: Figure[] = [];
  const sizes: Record<string, number> = {};
  try {
    const { client } = await opened.stores.tenant(tenantName(args.rows));
    const machine = await describeMachine(client);
    if (args.only.includes("allocate"))
      figures.push(...(await runAllocate(opened, allocated, args.repeat, sizes)));
    if (args.only.some((name) => name in readers)) figures.push(...(await runReaders(opened, args, sizes)));
    if (args.only.includes("tags")) {
      say("tags");
      figures.push(...(await benchTags({ ...opened, repeat: args.repeat, say })));
    }
    if (args.only.includes("start")) {
      say("start");
      figures.push(...(await benchStart(args.repeat)));
    }
    if (args.only.includes("backfill")) figures.push(...(await benchBackfill(args, sizes, say)));
    const report = { machine, sizes, repeat: args.repeat, figures };
    process.stdout.write(reportTable(report));
    if (args.json !== undefined) writeFileSync(args.json, reportJson(report));
  } finally {
    await opened.close();
  }
}

async function runAllocate(
  { stores }: BenchStores,
  rows: number,
  repeat: number,
  sizes: Record<string, number>,
): Promise<Figure[]> {
  const store = await stores.tenant(tenantName(rows));
  say(`making facts for ${rows} rows`);
  const made = await makeFacts(store, rows);
  sizes["lines allocated"] = made.lines;
  sizes["usage facts"] = made.facts;
  say("allocate");
  return await benchAllocate({ stores, store, repeat, enginePid: stores.embeddedClickHouse?.pid() });
}

async function runReaders(
  { stores, folder }: BenchStores,
  args: BenchArguments,
  sizes: Record<string, number>,
): Promise<Figure[]> {
  const store = await stores.tenant(tenantName(args.rows));
  say(`making facts for ${args.rows} rows`);
  await makeFacts(store, args.rows);
  if ((await count(store.client, "chargebacks")) === 0) {
    say("allocating them");
    await allocateAll(stores, store);
  }
  await settle(store.client);
  const rows = await count(store.client, "chargebacks");
  sizes.chargebacks = rows;
  let service: Promise<Service> | undefined;
  const bench: Bench = {
    stores,
    store,
    rows,
    repeat: args.repeat,
    seconds: args.seconds,
    enginePid: stores.embeddedClickHouse?.pid(),
    folder,
    service: () => {
      service ??= startService(stores, store, folder);
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

await main(readArguments(process.argv.slice(2)));
