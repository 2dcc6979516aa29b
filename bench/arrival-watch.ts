/** Measures one delivery: when its run begins and ends, what the run's statements take, and when the API shows it. */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { RunListener } from "../src/runner/run-events.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { TenantStore } from "../src/stores/stores.js";
import { familyProcessorSeconds, parentOf, processorSeconds } from "./measure.js";
import { timedClient } from "./timed-client.js";

/** Steps of a run. Each statement belongs to one of them. */
export const steps = [
  "claiming",
  "reading",
  "staging",
  "rules",
  "hashing",
  "allocating",
  "checking",
  "dimensions",
  "sums",
  "publishing",
  "other statements",
] as const;
export type Step = (typeof steps)[number];
const nothing = () => Object.fromEntries(steps.map((step) => [step, 0])) as Record<Step, number>;

const patterns: readonly (readonly [Step, RegExp])[] = [
  ["claiming", /^(RENAME|CREATE TABLE IF NOT EXISTS)/],
  ["sums", /sums_by_/],
  ["allocating", /^\s*INSERT INTO staged_chargebacks|rows_at_most/],
  ["checking", /lines_off/],
  ["dimensions", /\bINTO dimensions\b/],
  ["hashing", /sipHash128\(/],
  ["rules", /\b(identity_maps|allocation_rules|rewritten_days)\b|REPLACE PARTITION .* FROM rewritten_days/s],
  ["staging", /^\s*INSERT INTO staged_/],
  ["reading", /\b(focus_landing|focus_lines|focus_text_sums|usage_uploads)\b|format\(Parquet/],
  ["dimensions", /\bdimensions\b/],
  ["publishing", /REPLACE PARTITION|publishing_days|published_days/],
];

function stepOf(query: string): Step {
  return patterns.find(([, pattern]) => pattern.test(query))?.[0] ?? "other statements";
}

/** Times in seconds. */
export interface Arrival {
  /** From the delivery until the API shows all of it. */
  readonly seen: number;
  /** From the delivery until its run begins. */
  readonly noticed: number;
  /** From the begin of the run until its last day is published. */
  readonly worked: number;
  readonly days: number;
  readonly steps: Readonly<Record<Step, number>>;
  /** Planning the statements that allocate, as `EXPLAIN` takes for them afterwards. Part of `allocating`. */
  readonly planning: number;
  readonly processor: { readonly service: number; readonly engine: number; readonly postgres: number };
}

export interface ArrivalWatch {
  /** For the worker: its statements are timed, those of the API are not. */
  readonly stores: OpenedStores;
  readonly observer: RunListener;
  /** `deliver` ends with the last byte. `isSeen` asks the API. */
  arrival(tenant: string, deliver: () => unknown, isSeen: () => Promise<boolean>): Promise<Arrival>;
  /** Waits until each of the tenants has run. */
  settled(tenants: readonly string[]): Promise<void>;
}

interface Events {
  began?: number;
  finished?: number;
  failure?: string;
  pending: number;
  published: number;
  publishedAt: number;
}

const PATIENCE_MS = 600_000;
const LOOK_MS = 5;

export async function watchArrivals(stores: OpenedStores): Promise<ArrivalWatch> {
  const spent = nothing();
  const allocations: Parameters<ClickHouseClient["command"]>[0][] = [];
  const events = new Map<string, Events>();
  const eventsOf = (tenant: string) => {
    const known = events.get(tenant) ?? { pending: 0, published: 0, publishedAt: Number.NaN };
    events.set(tenant, known);
    return known;
  };
  const backend = (await stores.postgres.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0];
  const postmaster = backend && parentOf(backend.pid);
  const processor = () => ({
    service: processorSeconds(process.pid),
    engine: processorSeconds(stores.embeddedClickHouse?.pid()),
    postgres: familyProcessorSeconds(postmaster),
  });
  const timed = new Map<string, Promise<TenantStore>>();
  const openTimed = async (name: string) => {
    const store = await stores.tenant(name);
    const client = timedClient(store.client, spent, stepOf);
    const { command } = client;
    const capturing: Pick<ClickHouseClient, "command"> = {
      command(params) {
        if (/^\s*INSERT INTO staged_chargebacks/.test(params.query)) allocations.push(params);
        return command(params);
      },
    };
    return { ...store, client: Object.assign(client, capturing) };
  };
  const waitFor = async (what: string, isSo: () => boolean | Promise<boolean>) => {
    for (const end = performance.now() + PATIENCE_MS; !(await isSo()); await delay(LOOK_MS))
      if (performance.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
  };
  return {
    stores: {
      ...stores,
      tenant(name) {
        const opened = timed.get(name) ?? openTimed(name);
        timed.set(name, opened);
        return opened;
      },
    },
    observer: {
      began(tenant) {
        eventsOf(tenant).began ??= performance.now();
      },
      pending(tenant, days) {
        eventsOf(tenant).pending = days;
      },
      published(tenant) {
        const mine = eventsOf(tenant);
        mine.published += 1;
        mine.publishedAt = performance.now();
      },
      finished(tenant, { status }) {
        const mine = eventsOf(tenant);
        mine.finished = performance.now();
        // A run whose gathering failed publishes nothing, so nobody would notice it.
        if (status !== "completed") mine.failure = status;
      },
    },
    async arrival(tenant, deliver, isSeen) {
      events.delete(tenant);
      allocations.length = 0;
      Object.assign(spent, nothing());
      const before = processor();
      await deliver();
      const delivered = performance.now();
      const mine = eventsOf(tenant);
      await waitFor(`${tenant} is published`, () => {
        if (mine.failure !== undefined) throw new Error(`the run of ${tenant}: ${mine.failure}`);
        return mine.published > 0 && mine.published >= mine.pending;
      });
      const inSteps = { ...spent };
      await waitFor(`${tenant} is seen`, isSeen);
      const seen = performance.now();
      await waitFor(`the run of ${tenant} ends`, () => mine.finished !== undefined);
      const after = processor();
      const began = mine.began ?? Number.NaN;
      return {
        seen: (seen - delivered) / 1000,
        noticed: (began - delivered) / 1000,
        worked: (mine.publishedAt - began) / 1000,
        days: mine.published,
        steps: inSteps,
        planning: await planningOf((await stores.tenant(tenant)).client, allocations),
        processor: {
          service: after.service - before.service,
          engine: after.engine - before.engine,
          postgres: after.postgres - before.postgres,
        },
      };
    },
    async settled(tenants) {
      await waitFor("all tenants have run", () =>
        tenants.every((tenant) => eventsOf(tenant).finished !== undefined),
      );
    },
  };
}

async function planningOf(
  client: ClickHouseClient,
  statements: readonly Parameters<ClickHouseClient["command"]>[0][],
): Promise<number> {
  const began = performance.now();
  for (const { query, query_params } of statements) {
    const select = query.replace(/^\s*INSERT INTO \w+ \([^)]*\)/, "");
    await (
      await client.query({
        query: `EXPLAIN ${select}`,
        format: "TabSeparated",
        ...(query_params && { query_params }),
      })
    ).text();
  }
  return (performance.now() - began) / 1000;
}
