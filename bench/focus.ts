/**
 * Benchmark of a FOCUS bill from its file to published chargebacks: staging of Parquet and CSV, compared with the
 * engine and DuckDB reading the same file, and allocation by tag, by cost and by usage.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { addDays, dayOf } from "../src/common/days.js";
import type { Config } from "../src/config/config.js";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/reader/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { runStatement } from "../src/postgres/statement.js";
import { acquireLease } from "../src/runner/lease.js";
import { registerTenant } from "../src/runner/sql/tenants.js";
import { type OpenedStores, openStores } from "../src/stores/open-stores.js";
import { plainCopy } from "./allocate.js";
import type { BenchArguments } from "./arguments.js";
import { type BackfillStage, type MeasuredRun, measuredRun } from "./backfill-run.js";
import { countRows, settle } from "./dataset.js";
import { type BillFiles, type BillFormat, bill, formats, makeBill } from "./focus-bill.js";
import { type Loaded, loadAsWeDo, loadByEngine, openBillDuckDb } from "./focus-load.js";
import { type Figure, median, watchProcess } from "./measure.js";

const benchmark = "focus";

const tenantName = "bench_focus";
/** Target for memory above idle, for any size of the bill. */
const MOST_STAGING_MIB = 150;
/** Target for a whole run. */
const MOST_SERVICE_MIB = 1024;

const shared = (tier: Readonly<Record<string, unknown>>) => [
  { name: "shared", where: { "tag.shared": "yes" }, split: [tier] },
];
const allocations = {
  tag: [],
  cost: shared({ by: "cost" }),
  usage: shared({ by: "usage", metric: bill.metric }),
} as const;
type Allocation = keyof typeof allocations;

interface Setting {
  readonly stores: OpenedStores;
  readonly folder: string;
  readonly bills: BillFiles;
  /** Days of the bill. */
  readonly days: readonly string[];
  readonly repeat: number;
  readonly say: (text: string) => void;
}

/** `rows` is the number of lines of the bill. Adds the sizes of the data to `sizes`. */
export async function benchFocus(
  { rows, repeat }: Pick<BenchArguments, "rows" | "repeat">,
  sizes: Record<string, number>,
  say: (text: string) => void,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-focus-"));
  const usage = join(folder, "usage");
  for (const each of [usage, join(folder, "bill")]) mkdirSync(each);
  const files = { Parquet: join(folder, "bill", "bill.parquet"), CSV: join(folder, "bill.csv") };
  const bills = { files, usage: join(usage, "usage.csv") };
  const note = (text: string) => say(`${benchmark}: ${text}`);
  const stores = await openStores({ config: configOf(folder, "tag"), logger: pino({ level: "warn" }) });
  try {
    const { client } = await stores.tenant(tenantName);
    note(`making a bill of ${rows} lines`);
    const first = addDays(dayOf(new Date()), -bill.days - 1);
    await makeBill(client, bills, { lines: rows, first });
    sizes["lines of the bill"] = rows;
    const days = Array.from({ length: bill.days }, (_, at) => addDays(first, at));
    const setting = { stores, folder, bills, days, repeat, say: note };
    const staging = await benchStaging(setting, rows);
    return [
      ...staging.figures,
      ...(await benchAllocations(setting, sizes)),
      ...(await benchDuckDb(setting, staging)),
    ];
  } finally {
    await stores.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(folder: string, allocation: Allocation): Config {
  const source = { name: "bill", location: join(folder, "bill"), limits: { settle_seconds: 0 } };
  const tenant = {
    ecosystem: "focus",
    tenant_id: tenantName,
    lookback_days: bill.days + 2,
    cutoff_days: 1,
    storage: { connection_string: `embedded:${tenantName}` },
    allocation: { identity: [{ tag: "team" }], rules: allocations[allocation] },
    plugin_settings: {
      sources: [source],
      usage: { uploads: { metrics: [bill.metric], folder: join(folder, "usage"), settle_seconds: 0 } },
    },
  };
  const yaml = JSON.stringify({ data_dir: join(folder, "data"), tenants: { [tenantName]: tenant } });
  const loaded = loadConfig(yaml, { file: "focus.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

interface Staging {
  readonly figures: readonly Figure[];
  readonly seconds: Readonly<Record<BillFormat, number>>;
  readonly cost: string;
}

async function benchStaging({ stores, bills, repeat, say }: Setting, lines: number): Promise<Staging> {
  const { client, tenantId, ecosystem } = await stores.tenant(tenantName);
  await runStatement(stores.postgres, registerTenant({ tenantName, tenantId, ecosystem }));
  const lease = await acquireLease(stores.postgres, tenantName, "bench");
  if (lease === undefined) throw new Error(`the lease of ${tenantName} is held`);
  const { postgres, backupLock } = stores;
  const store = { client, postgres, backupLock, tenantName, epoch: lease.epoch };
  const figures: Figure[] = [];
  const seconds = { Parquet: Number.NaN, CSV: Number.NaN };
  const costs = new Set<string>();
  try {
    for (const format of formats) {
      const ours: Loaded[] = [];
      const engines: number[] = [];
      const watched: { readonly service: number; readonly engine: number }[] = [];
      for (let turn = 0; turn < repeat; turn++) {
        say(`staging of ${format}, ${turn + 1} of ${repeat}`);
        await settle(client);
        const service = watchProcess(process.pid);
        const engine = watchProcess(stores.embeddedClickHouse?.pid());
        ours.push(await loadAsWeDo(store, bills.files[format]));
        watched.push({ service: service.peak() - service.idle, engine: engine.peak() });
        service.stop();
        engine.stop();
        await settle(client);
        engines.push(await loadByEngine(client, format, bills.files[format]));
      }
      for (const { cost } of ours) costs.add(cost);
      const own = median(ours.map((each) => each.seconds));
      const plain = median(engines);
      seconds[format] = own;
      const enginePeak = Math.round(Math.max(...watched.map(({ engine }) => engine)));
      figures.push(
        {
          benchmark,
          name: `staging of ${format}`,
          value: lines / own,
          unit: "rows/s",
          note: `${own.toFixed(1)} s`,
        },
        {
          benchmark,
          name: `staging of ${format} / engine's own INSERT … SELECT, speed`,
          value: plain / own,
          unit: "ratio",
          target: { at: "least", value: 0.5 },
          note: `it takes ${plain.toFixed(1)} s`,
        },
        {
          benchmark,
          name: `staging of ${format}: service memory above idle`,
          unit: "MiB",
          value: Math.max(...watched.map(({ service }) => service)),
          target: { at: "most", value: MOST_STAGING_MIB },
          note: `engine ${enginePeak}`,
        },
      );
    }
  } finally {
    await lease.release();
  }
  const [cost = "", ...others] = costs;
  if (others.length > 0) throw new Error(`the files differ: ${[...costs].join(", ")}`);
  return { figures, seconds, cost };
}

interface AllocationTurn {
  readonly run: MeasuredRun;
  readonly rows: number;
  readonly plain: number;
}

/**
 * Measures whole runs in turns. Each has other rules than the one before, so it calculates all days. Only the first one
 * reads the bill.
 */
async function benchAllocations(
  { stores, folder, days, repeat, say }: Setting,
  sizes: Record<string, number>,
): Promise<Figure[]> {
  const { client } = await stores.tenant(tenantName);
  const names = Object.keys(allocations) as Allocation[];
  const turns = new Map<Allocation, AllocationTurn[]>(names.map((name) => [name, []]));
  for (let turn = 0; turn < repeat; turn++) {
    for (const name of names) {
      say(`by ${name}, ${turn + 1} of ${repeat}`);
      await settle(client);
      const upstream = { config: configOf(folder, name), tenantName };
      const run = await measuredRun(upstream, stores, (stage) => say(`by ${name}: ${stage}`));
      if (run.result.status !== "completed") throw new Error(JSON.stringify(run.result.errors.slice(0, 5)));
      if (run.result.dates_calculated !== bill.days)
        throw new Error(`${run.result.dates_calculated} days were calculated`);
      const rows = await countRows(client, "chargebacks");
      await settle(client);
      turns.get(name)?.push({ run, rows, plain: (await plainCopy(client, days)) / 1000 });
      sizes[`rows by ${name}`] = rows;
    }
  }
  return names.flatMap((name) => allocationFigures(name, turns.get(name) ?? []));
}

function allocationFigures(name: Allocation, turns: readonly AllocationTurn[]): Figure[] {
  const rows = turns[0]?.rows ?? 0;
  const wall = (stage: BackfillStage) => median(turns.map(({ run }) => run.stages[stage].wall));
  const seconds = wall("allocate and publish");
  const plain = median(turns.map((turn) => turn.plain));
  const peak = (of: (run: MeasuredRun) => number) => Math.round(Math.max(...turns.map(({ run }) => of(run))));
  return [
    {
      benchmark,
      name: `by ${name}: allocate and publish`,
      value: rows / seconds,
      unit: "rows/s",
      note: `${seconds.toFixed(1)} s; before it, lines to staged days ${wall("gather").toFixed(1)} s, rules and hashes ${wall("stage and hash").toFixed(1)} s`,
    },
    {
      benchmark,
      name: `by ${name}: allocate and publish / plain INSERT … SELECT, time`,
      value: seconds / plain,
      unit: "ratio",
      note: `it takes ${plain.toFixed(1)} s`,
    },
    {
      benchmark,
      name: `by ${name}: service memory, peak of the whole run`,
      unit: "MiB",
      value: peak(({ servicePeak }) => servicePeak),
      target: { at: "most", value: MOST_SERVICE_MIB },
      note: `engine ${peak(({ enginePeak }) => enginePeak)}`,
    },
  ];
}

/** Runs last, because DuckDB runs in this process, whose memory was measured before. */
async function benchDuckDb(
  { folder, bills, repeat, say }: Setting,
  { seconds, cost }: Staging,
): Promise<Figure[]> {
  const duck = await openBillDuckDb(folder);
  try {
    const figures: Figure[] = [];
    for (const format of formats) {
      const durations: number[] = [];
      for (let turn = 0; turn < repeat; turn++) {
        say(`DuckDB, ${format}, ${turn + 1} of ${repeat}`);
        const loaded = await duck.load(format, bills.files[format]);
        if (loaded.cost !== cost) throw new Error(`DuckDB adds up ${loaded.cost}, we ${cost}`);
        durations.push(loaded.seconds);
      }
      const duckDbSeconds = median(durations);
      figures.push({
        benchmark,
        name: `staging of ${format} / DuckDB's CREATE TABLE AS, speed`,
        value: duckDbSeconds / seconds[format],
        unit: "ratio",
        note: `it takes ${duckDbSeconds.toFixed(1)} s`,
      });
    }
    return figures;
  } finally {
    duck.close();
  }
}
