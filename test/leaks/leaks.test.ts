/**
 * Nothing piles up while the service works: handles, tables, parts and files stay what they were. For a while here, and for as many minutes
 * as `LEAK_MINUTES` says, after ten more to warm up, with `npm run soak`, which prints what it counted.
 */
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { addDays, dayOf } from "../../src/common/days.js";
import { startSimulator } from "../../src/simulator/simulator.js";
import { simulatedTenants } from "../../src/simulator/tenants.js";
import { freePort } from "../free-port.js";
import { signalEntries } from "../signal-entries.js";
import { temporaryFolder } from "../stores.js";
import { until } from "../until.js";
import { growthOf } from "./growth.js";
import { type LoadedTenant, readAndTag, runLoad } from "./load.js";
import { startCountedService, type Use } from "./service.js";

const minutes = Number(process.env.LEAK_MINUTES ?? 0);
const isLong = minutes > 0;
/** Before it counts, caches fill, pools open connections, and the engine keeps replaced parts for eight minutes. */
const WARM_UP_MINUTES = isLong ? 10 : 0;
const SAMPLE_MS = 5_000;
/** Longer than a pool keeps a connection that nobody uses. */
const IDLE_MS = 12_000;

interface Sample {
  /** Seconds since the load began. */
  readonly at: number;
  readonly use: Use;
}

/** These figures are as before once there are no more requests. */
const exact = [
  "serviceHandles",
  "signalEntries",
  "engineHandles",
  "postgresProcesses",
  "tables",
  "temporaryFiles",
  "socketEntries",
] as const satisfies readonly (keyof Use)[];
/** What may not grow under load. Memory moves with what is being done, so it is compared at rest, by people: caches, threads and compiled code level off late. */
const bounded = [
  ...exact,
  "serviceThreads",
  "engineThreads",
  "postgresHandles",
  "activeParts",
  "inactiveParts",
] as const satisfies readonly (keyof Use)[];
const memory = [
  "heapMiB",
  "serviceMiB",
  "engineMiB",
  "engineCachesMiB",
  "engineAllocatedMiB",
  "postgresMiB",
  "postgresSharedMiB",
] as const satisfies readonly (keyof Use)[];
const columns = [...bounded, ...memory] as const;
/** Of so many samples, one is printed. */
const SHOWN = 12;

/** The engine keeps replaced parts for eight minutes, and looks for them every minute or so. */
const REST_SECONDS = 660;
/** Allocators give back late and in steps, so the least of so many samples counts. */
const RESTING_SAMPLES = 6;

/** A line of the table that is printed. */
function line(title: string, read: (name: (typeof columns)[number]) => number): string {
  const cells = columns.map((name) =>
    read(name)
      .toFixed(name.endsWith("MiB") ? 1 : 0)
      .padStart(name.length),
  );
  return [title.padStart(8), ...cells].join(" ");
}

t.test("growth is distinguished from variation", async (t) => {
  const seconds = Array.from({ length: 60 }, (_, index) => index * 5);
  const grows = (count: (second: number) => number) =>
    growthOf(seconds.map((second) => [second, count(second)])).grows;
  t.equal(
    grows((second) => 300 + second / 30),
    true,
    "a rise of two per minute is growth",
  );
  t.equal(
    grows((second) => 300 + (second % 35) + second / 2),
    true,
    "a rise is found in spite of variation",
  );
  t.equal(
    grows(() => 300),
    false,
  );
  t.equal(
    grows((second) => 300 + (second % 35)),
    false,
  );
  t.equal(
    grows((second) => 300 - second),
    false,
  );
});

t.test("who waits for a signal is counted", async (t) => {
  const { signal } = new AbortController();
  t.equal(signalEntries(signal), 0);
  signal.addEventListener("abort", () => undefined);
  AbortSignal.any([signal]);
  t.equal(signalEntries(signal), 2);
});

t.test("nothing piles up", { timeout: 0 }, async (t) => {
  const size = isLong ? ({ size: "small", days: 8 } as const) : ({ size: "tiny", days: 4 } as const);
  const simulator = await startSimulator(size);
  t.teardown(() => simulator.close());
  const [sqlPort, port] = [await freePort(), await freePort()];
  const sqlPassword = "a password of the test";
  const simulated = simulatedTenants({ ...size, url: simulator.url });
  const tenants = Object.fromEntries(
    simulated.map(({ tenant_name: name, plugin_settings: settings, ...tenant }) => [
      name,
      {
        ...tenant,
        storage: { connection_string: `embedded:${name}` },
        plugin_settings: { ...settings, emitters: [{ type: "prometheus" }] },
      },
    ]),
  );
  const service = await startCountedService(t, temporaryFolder(t), {
    api: { port, rate_limit: { max_per_minute: 1_000_000 } },
    embedded: { sql_port: sqlPort, sql_user: "bi", sql_password: sqlPassword },
    features: { enable_periodic_refresh: false },
    logging: { level: "error" },
    tenants,
  });
  const { url } = service;
  const loaded = simulated.map(({ tenant_name: name }): LoadedTenant => ({ name, sqlPort, sqlPassword }));

  let rounds = 0;
  /** All that clients do, while each tenant has a run whose every day has other values than the one before. */
  const round = async () => {
    rounds += 1;
    const factor = 1 + ((rounds * 3) % 10) / 10;
    const days = Array.from({ length: size.days }, (_, age) => addDays(dayOf(new Date()), -age - 1));
    simulator.setFaults(days.map((day) => ({ kind: "revision", day, factor })));
    await Promise.all(
      loaded.map(async (tenant) => {
        const [rows] = await Promise.all([runLoad(t, url, tenant), readAndTag(t, url, tenant)]);
        if (rows === 0) t.fail(`round ${rounds}: the run of ${tenant.name} published nothing`);
      }),
    );
  };
  /** Rounds for so many seconds, and a sample every few of them. */
  const load = async (seconds: number): Promise<Sample[]> => {
    const samples: Sample[] = [];
    const began = performance.now();
    const since = () => (performance.now() - began) / 1000;
    const sampling = new AbortController();
    const sample = async () => {
      while (!sampling.signal.aborted) {
        const use = await service.use();
        if (isLong && samples.length % SHOWN === 0) t.comment(line(since().toFixed(0), (name) => use[name]));
        samples.push({ at: since(), use });
        await delay(SAMPLE_MS, undefined, { signal: sampling.signal }).catch(() => undefined);
      }
    };
    const work = async () => {
      try {
        do await round();
        while (since() < seconds);
      } finally {
        sampling.abort();
      }
    };
    await Promise.all([work(), sample()]);
    return samples;
  };

  await until("the first cycle is over", async () => {
    const statuses = loaded.map(async ({ name }): Promise<{ last_result: unknown }> => {
      return JSON.parse(await (await fetch(`${url}/api/v1/tenants/${name}/pipeline/status`)).text());
    });
    return (await Promise.all(statuses)).every(({ last_result }) => last_result !== null);
  });
  /** Returns what the service holds once the engine has removed replaced parts, long after the last request. */
  const atRest = async (): Promise<(name: (typeof columns)[number]) => number> => {
    const arePartsGone = async () => {
      await delay(SAMPLE_MS);
      return (await service.use()).inactiveParts === 0;
    };
    await until("replaced parts are gone", arePartsGone, REST_SECONDS);
    const uses: Use[] = [];
    for (let sample = 0; sample < RESTING_SAMPLES; sample++) {
      await delay(SAMPLE_MS);
      uses.push(await service.use());
    }
    const least = (name: (typeof columns)[number]) => Math.min(...uses.map((use) => use[name]));
    t.comment(line("at rest", least));
    return least;
  };

  if (isLong) t.comment(["seconds".padStart(8), ...columns].join(" "));
  await load(WARM_UP_MINUTES * 60);
  await delay(IDLE_MS);
  const before = await service.use();
  const kinds = service.engineHandleKinds();
  if (isLong) {
    const rests = [await atRest()];
    const samples: Sample[] = [];
    for (let half = 0; half < 2; half++) {
      const offset = half * minutes * 30;
      for (const { at, use } of await load(minutes * 30)) samples.push({ at: at + offset, use });
      rests.push(await atRest());
    }
    const growth = (name: (typeof columns)[number]) =>
      growthOf(samples.map(({ at, use }) => [at, use[name]]));
    t.comment(line("load, /h", (name) => growth(name).slope * 3600));
    const [first, , last] = rests;
    if (first !== undefined && last !== undefined)
      t.comment(line("rest, /h", (name) => ((last(name) - first(name)) / minutes) * 60));
    for (const name of bounded) t.equal(growth(name).grows, false, `${name} do not grow`);
  } else await load(0);
  const left = (use: Use) => exact.filter((name) => use[name] > before[name]);
  let after = before;
  await until("it has let go of what it had in use", async () => {
    after = await service.use();
    return left(after).length === 0;
  }).catch(() => undefined);
  const more = left(after).map((name) => `${name}: ${after[name]} instead of ${before[name]}`);
  t.strictSame(more, [], `after ${rounds} rounds no more is left than before`);
  if (more.length > 0)
    t.comment("handles of the engine, before and after", kinds, service.engineHandleKinds());
});
