/**
 * Benchmark of many tenants on one service, all in the embedded engine: the first start and the first run of each,
 * reads while runs are in progress, and a start with existing stores, with reads while nothing else happens. Each
 * tenant is a small cluster of a simulated Prometheus.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { readConfig } from "../src/config/read-file.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { startSimulator } from "../src/simulator/simulator.js";
import { simulatedTenants } from "../src/simulator/tenants.js";
import { openStores } from "../src/stores/open-stores.js";
import { freePort } from "../test/free-port.js";
import type { BenchArguments } from "./arguments.js";
import { type Contents, contentsOf } from "./contents.js";
import { readAll } from "./http-client.js";
import { percentile } from "./load.js";
import {
  childPids,
  type Figure,
  familyMiB,
  median,
  once,
  residentMemoryMiB,
  watchProcess,
} from "./measure.js";
import { type BenchService, program, spawnService, untilReady } from "./service.js";

const PRINCIPALS = 8;
const DAYS = 4;
/** Short enough that all tenants are due again long before the last of them has run. */
const REFRESH_SECONDS = 1;
/** Interval of reads in milliseconds, independent of their responses. */
const READ_EVERY_MS = 100;
const LOOK_EVERY_MS = 1_000;
const PATIENCE_MS = 3_600_000;
const SCRAPES = 5;
const IDLE_MS = 20_000;
/** After this time the engine hardly looks for background work any more. */
const SETTLED_MS = 180_000;

export async function benchTenants(
  { tenants: count, seconds }: Pick<BenchArguments, "tenants" | "seconds">,
  say: (text: string) => void,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-tenants-"));
  try {
    return await withTenants({ count, seconds, folder, say });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Input {
  readonly count: number;
  readonly seconds: number;
  readonly folder: string;
  readonly say: (text: string) => void;
}

async function withTenants({ count, seconds, folder, say }: Input): Promise<Figure[]> {
  const figures: Figure[] = [];
  const note: Note = (name, value, unit, more) => {
    say(`tenants: ${name}: ${value.toFixed(1)} ${unit}${more ? ` (${more})` : ""}`);
    figures.push({ benchmark: "tenants", name, value, unit, ...(more && { note: more }) });
  };
  const size = { tenants: count, principals: PRINCIPALS, days: DAYS };
  const simulator = await startSimulator(size);
  try {
    const tenants = simulatedTenants({ ...size, url: simulator.url });
    const names = tenants.map(({ tenant_name }) => tenant_name);
    const port = await freePort();
    const file = join(folder, "service.yaml");
    mkdirSync(join(folder, "data"));
    writeFileSync(file, configuration({ folder, port, tenants }));
    const start = async (mode: "both" | "api") =>
      await started([program, "serve", "--config", file, "--mode", mode], port);

    const first = await start("both");
    try {
      note("first start: to /health", first.health, "s");
      note("first start: to all tables", await first.tablesOf(count), "s");
      note("first start: to a run of every tenant", await first.runsOf(names, 1), "s");
      await noteMetrics(first.service, note);
      noteMemory("after the first runs", first.service, note);
      await noteReads("during runs", first.service, names, Math.max(seconds, 60), note);
      await first.runsOf(names, 2);
      await noteFairness(first.service, names, note);
      noteMemory("after two runs of each", first.service, note);
    } finally {
      await first.service.stop();
    }

    const next = await start("api");
    try {
      note("next start: to /health", next.health, "s");
      note("next start: to all tables", await next.tablesOf(count), "s");
      await noteIdle("just started", next.service, note);
      noteMemory("after the next start", next.service, note);
      await noteReads("idle", next.service, names, seconds * 4, note);
      for (const path of ["tenants", "readiness"]) {
        const durations = await timesOf(SCRAPES, () => readAll(`${next.service.url}/api/v1/${path}`));
        note(`idle: /api/v1/${path}`, median(durations), "ms");
      }
      await delay(SETTLED_MS);
      await noteIdle("idle", next.service, note);
    } finally {
      await next.service.stop();
    }
    const { tables, activeParts } = await contents(file);
    note("tables of the engine", tables, "tables");
    note("active parts of the engine", activeParts, "parts");
    return figures;
  } finally {
    await simulator.close();
  }
}

type Note = (name: string, value: number, unit: Figure["unit"], more?: string) => void;

function configuration({
  folder,
  port,
  tenants,
}: {
  readonly folder: string;
  readonly port: number;
  readonly tenants: ReturnType<typeof simulatedTenants>;
}): string {
  return JSON.stringify({
    data_dir: join(folder, "data"),
    api: { port, rate_limit: { max_per_minute: 1_000_000 } },
    features: { refresh_interval: REFRESH_SECONDS },
    logging: { level: "warn" },
    tenants: Object.fromEntries(
      tenants.map(({ tenant_name: name, plugin_settings, ...tenant }) => [
        name,
        {
          ...tenant,
          storage: { connection_string: `embedded:${name.replaceAll("-", "_")}` },
          plugin_settings: { ...plugin_settings, min_refresh_gap_seconds: 0 },
        },
      ]),
    ),
  });
}

/** Times in seconds since the process was spawned. */
interface Started {
  readonly service: BenchService;
  readonly health: number;
  /** Waits until this number of tenants have their tables. */
  tablesOf(count: number): Promise<number>;
  /** Waits until each tenant has had this number of runs. Throws if one of them was not completed. */
  runsOf(names: readonly string[], times: number): Promise<number>;
}

async function started(args: readonly string[], port: number): Promise<Started> {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  const service = await spawnService(args, port);
  const look = async (isSo: () => Promise<boolean>) => {
    await untilReady(async () => {
      if (await isSo()) return true;
      await delay(LOOK_EVERY_MS);
      return false;
    }, PATIENCE_MS);
    return since();
  };
  return {
    service,
    health: since(),
    tablesOf: async (count) =>
      await look(async () => {
        const { tenants } = (await (await fetch(`${service.url}/api/v1/readiness`)).json()) as {
          tenants: { tables_ready: boolean }[];
        };
        return tenants.filter(({ tables_ready }) => tables_ready).length === count;
      }),
    runsOf: async (names, times) =>
      await look(async () => {
        const runs = await finishedRuns(service);
        return names.every((name) => (runs.get(name) ?? 0) >= times);
      }),
  };
}

/** Returns the number of finished runs by tenant. */
async function finishedRuns({ url }: BenchService): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const lines = [...page.matchAll(/^chargehouse_runs_total\{tenant="([^"]+)",status="(\w+)"\} (\d+)$/gm)];
  const other = lines.find(([, , status]) => status !== "completed");
  if (other !== undefined) throw new Error(`not all runs were completed: ${other[0]}`);
  return new Map(lines.map(([, name = "", , count]) => [name, Number(count)]));
}

async function timesOf(times: number, run: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let turn = 0; turn < times; turn++) durations.push(await once(run));
  return durations;
}

async function noteMetrics({ url }: BenchService, note: Note): Promise<void> {
  note("/metrics, size", (await readAll(`${url}/metrics`)) / 1024, "KiB");
  note("/metrics, time to scrape it", median(await timesOf(SCRAPES, () => readAll(`${url}/metrics`))), "ms");
}

function noteMemory(when: string, { pid }: BenchService, note: Note): void {
  note(`memory ${when}: service`, residentMemoryMiB(pid), "MiB");
  note(`memory ${when}: engine`, residentMemoryMiB(childOf(pid, ENGINE)), "MiB");
  note(`memory ${when}: Postgres`, familyMiB(childOf(pid, POSTGRES)), "MiB");
}

/** Identifies the engine among the children of the service by its command line. */
const ENGINE = "embedded/server/main.js";
const POSTGRES = "bin/postgres";

function childOf(pid: number | undefined, command: string): number | undefined {
  const children = pid === undefined ? [] : childPids(pid);
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes(command));
}

/** Measures the service without requests. */
async function noteIdle(when: string, { pid }: BenchService, note: Note): Promise<void> {
  const watched = [watchProcess(pid), watchProcess(childOf(pid, ENGINE))];
  await delay(IDLE_MS);
  const [service = Number.NaN, engine = Number.NaN] = watched.map(({ cpuSeconds }) => cpuSeconds());
  for (const { stop } of watched) stop();
  const aMinute = 60_000 / IDLE_MS;
  note(`${when}: processor time in a minute: service`, service * aMinute, "s");
  note(`${when}: processor time in a minute: engine`, engine * aMinute, "s");
}

/** Measures how evenly tenants get runs while all of them wait. */
async function noteFairness(service: BenchService, names: readonly string[], note: Note): Promise<void> {
  const runs = [...(await finishedRuns(service)).values()];
  note("runs of a tenant, most", Math.max(...runs), "runs", `fewest: ${Math.min(...runs)}`);
  const now = Date.now();
  const ages: number[] = [];
  for (const name of names) {
    const response = await fetch(`${service.url}/api/v1/tenants/${name}/pipeline/status`);
    const { last_run } = (await response.json()) as { last_run: string };
    ages.push((now - Date.parse(last_run)) / 1000);
  }
  const [least, most] = [Math.max(0, Math.min(...ages)), Math.max(...ages)];
  note(
    "age of a tenant's last run, most",
    most,
    "s",
    `least ${least.toFixed(1)} s, median ${median(ages).toFixed(1)} s`,
  );
}

/** Measures reads of several kinds and tenants in turn. */
async function noteReads(
  when: string,
  { url }: BenchService,
  names: readonly string[],
  seconds: number,
  note: Note,
): Promise<void> {
  const reads = ["/health", "status", "chargebacks", "tags"] as const;
  const durations = new Map(reads.map((read): [string, number[]] => [read, []]));
  const underWay: Promise<void>[] = [];
  const end = performance.now() + seconds * 1000;
  for (let turn = 0; performance.now() < end; turn++) {
    const read = reads[turn % reads.length] ?? "/health";
    const requests = Math.floor(turn / reads.length);
    const name = names[requests % names.length];
    // Another page each time, because the service caches responses.
    const page = read === "chargebacks" ? `?page=${1 + Math.floor(requests / names.length)}` : "";
    const address = read === "/health" ? url + read : `${url}/api/v1/tenants/${name}/${read}${page}`;
    underWay.push(once(() => readAll(address)).then((ms) => void durations.get(read)?.push(ms)));
    await delay(READ_EVERY_MS);
  }
  await Promise.all(underWay);
  for (const [read, times] of durations) {
    times.sort((a, b) => a - b);
    const name = read === "/health" ? read : `${read} of a tenant`;
    note(
      `${when}: ${name}`,
      percentile(times, 0.5),
      "ms",
      `p99 ${percentile(times, 0.99).toFixed(0)} ms of ${times.length}`,
    );
  }
}

/** Returns the contents of the stores of a service that has ended. */
async function contents(file: string): Promise<Contents> {
  const read = await readConfig(file, { env: {}, ecosystems });
  if (!read.ok) throw new Error(`not what the benchmark writes: ${file}`);
  const { config } = read;
  const [first = ""] = config.tenants.keys();
  const stores = await openStores({ config, logger: pino({ level: "warn" }), skipMigrations: true });
  try {
    return await contentsOf((await stores.tenant(first)).client);
  } finally {
    await stores.close();
  }
}
