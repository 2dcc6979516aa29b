/** Measures one run of a tenant: seconds of each stage, time of waiting for the upstream, and memory. */
import type { Pool } from "pg";
import { pino } from "pino";
import type { AnyEcosystem, Gatherer } from "../src/ingest/ecosystem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { notifyAll } from "../src/runner/run-events.js";
import type { RunResult } from "../src/runner/sql/runs.js";
import { startTenantRun, usualLimits } from "../src/runner/tenant-run.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { BackfillUpstream } from "./backfill-upstream.js";
import { watchProcess, watchServer } from "./measure.js";
import { type WaitingRequests, type WaitingWatch, watchWaiting } from "./waiting.js";

/** In order. Gathering and staging alternate, window by window. */
export const stages = [
  "prepare",
  "inventory",
  "gather",
  "topics",
  "stage and hash",
  "allocate and publish",
] as const;
export type BackfillStage = (typeof stages)[number];

/** Seconds. */
export interface StageTime extends WaitingRequests {
  readonly wall: number;
}

export interface MeasuredRun {
  readonly result: RunResult;
  readonly stages: Readonly<Record<BackfillStage, StageTime>>;
  /** MiB. */
  readonly servicePeak: number;
  readonly enginePeak: number;
  readonly postgresPeak: number;
  /** Seconds of processor time. */
  readonly serviceCpu: number;
  readonly engineCpu: number;
}

export async function measuredRun(
  upstream: Pick<BackfillUpstream, "config" | "tenantName">,
  stores: OpenedStores,
  say: (text: string) => void,
): Promise<MeasuredRun> {
  const { config, tenantName } = upstream;
  const tenant = config.tenants.get(tenantName);
  if (tenant === undefined) throw new Error(`no tenant ${tenantName}`);
  const service = watchProcess(process.pid);
  const engine = watchProcess(stores.embeddedClickHouse?.pid());
  const postgres = watchServer(await backendPid(stores.postgres));
  const clock = stageClock(watchWaiting(stores.postgres), say);
  try {
    const started = await startTenantRun(
      {
        stores,
        ecosystems: new Map([...ecosystems].map(([name, each]) => [name, clocked(each, clock.begin)])),
        holder: "bench",
        logger: pino({ level: "warn" }),
        observer: notifyAll([{ gathered: () => clock.begin("allocate and publish") }]),
        now: () => new Date(),
        limits: usualLimits,
      },
      tenant,
      { trigger: "cli", signal: new AbortController().signal },
    );
    const result = await started.done;
    return {
      result,
      stages: clock.end(),
      servicePeak: service.peak(),
      enginePeak: engine.peak(),
      postgresPeak: postgres.peak(),
      serviceCpu: service.cpuSeconds(),
      engineCpu: engine.cpuSeconds(),
    };
  } finally {
    clock.stop();
    service.stop();
    engine.stop();
    postgres.stop();
  }
}

async function backendPid(postgres: Pool): Promise<number | undefined> {
  return (await postgres.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
}

interface StageClock {
  readonly begin: (stage: BackfillStage) => void;
  end(): Readonly<Record<BackfillStage, StageTime>>;
  stop(): void;
}

function stageClock(watch: WaitingWatch, say: (text: string) => void): StageClock {
  const nothing = { wall: 0, upstream: 0, store: 0, paced: 0, busy: 0, answering: 0 };
  const spent = Object.fromEntries(stages.map((stage) => [stage, { ...nothing }])) as Record<
    BackfillStage,
    typeof nothing
  >;
  let stage: BackfillStage = "prepare";
  let since = { ...nothing, ...watch.totals(), wall: performance.now() };
  const book = () => {
    const now = { ...watch.totals(), wall: performance.now() };
    for (const each of ["wall", "upstream", "store", "paced", "busy", "answering"] as const) {
      spent[stage][each] += (now[each] - since[each]) / 1000;
    }
    since = now;
  };
  return {
    begin(next) {
      book();
      if (next !== stage) say(next);
      stage = next;
    },
    end() {
      book();
      return spent;
    },
    stop: watch.stop,
  };
}

/** Wraps the ecosystem so that its gatherer reports the start of each stage. */
function clocked(ecosystem: AnyEcosystem, begin: (stage: BackfillStage) => void): AnyEcosystem {
  const during = <Args extends unknown[], T>(stage: BackfillStage, work: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      begin(stage);
      try {
        return await work(...args);
      } finally {
        begin("stage and hash");
      }
    };
  };
  return {
    ...ecosystem,
    connect(settings, context): Gatherer {
      const gatherer = ecosystem.connect(settings, context);
      const { gatherTopics } = gatherer;
      return {
        ...gatherer,
        gatherInventory: during("inventory", gatherer.gatherInventory),
        gatherWindow: during("gather", gatherer.gatherWindow),
        ...(gatherTopics && { gatherTopics: during("topics", gatherTopics) }),
      };
    },
  };
}
