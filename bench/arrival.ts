/**
 * Benchmark of the time from a delivery to what the API shows of it: a bill in a watched folder, uploaded usage, and
 * small changes of tenants with 200 published days. Everything runs as in `serve`, with the schedule, the watch of
 * folders and the API, but in this process, so that each statement of a run can be timed.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { createWorker, type Worker } from "../src/cli/worker.js";
import { addDays, dayOf } from "../src/common/days.js";
import type { Config } from "../src/config/config.js";
import { startHttpServer } from "../src/http/server/server.js";
import type { PipelineControl } from "../src/runner/control.js";
import { startSimulator } from "../src/simulator/simulator.js";
import { selfManagedTenant } from "../src/simulator/tenants.js";
import { type OpenedStores, openStores } from "../src/stores/open-stores.js";
import { freePort } from "../test/free-port.js";
import type { BenchArguments } from "./arguments.js";
import { arrivalFigures } from "./arrival-figures.js";
import {
  billedIn,
  drop,
  madeBill,
  ofBills,
  PUBLISHED,
  readTenants,
  type Sums,
  seenIn,
  sumsOf,
  type Tenants,
  uploadUsage,
  writeMap,
} from "./arrival-tenants.js";
import { type Arrival, type ArrivalWatch, watchArrivals } from "./arrival-watch.js";
import { type BillFormat, bill, formats } from "./focus-bill.js";
import type { Figure } from "./measure.js";

const SMALL = 10_000;
/** Seconds until a bill is seen, by its lines. */
const SEEN_TARGETS = new Map([
  [SMALL, 2],
  [1_000_000, 8],
]);
/** Seconds of work for a late line. */
const LATE_TARGET = 1;
const changing = "arrival_changing";
const METERED = { tenants: 1, principals: 20, days: 200 } as const;
const metered = "arrival_metered";

export async function benchArrival(
  { rows, repeat }: Pick<BenchArguments, "rows" | "repeat">,
  sizes: Record<string, number>,
  say: (text: string) => void,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-arrival-"));
  const simulator = await startSimulator(METERED);
  const { tenant_name: _, ...kafka } = selfManagedTenant({ ...METERED, url: simulator.url });
  const deliveries = [...new Set([SMALL, rows])].flatMap((lines) =>
    formats.flatMap((format) =>
      Array.from({ length: repeat }, (_, turn) => ({
        lines,
        format,
        tenant: `arrival_${lines}_${format.toLowerCase()}_${turn}`,
      })),
    ),
  );
  sizes["lines of the largest bill"] = Math.max(SMALL, rows);
  for (const { tenant } of deliveries) mkdirSync(join(folder, tenant));
  for (let at = 0; at < PUBLISHED.bills; at++)
    mkdirSync(join(folder, changing, String(at)), { recursive: true });
  const map = join(folder, "accounts.csv");
  const port = await freePort();
  const configOf = (changes: Tenants = {}) =>
    readTenants(folder, port, {
      ...Object.fromEntries(deliveries.map(({ tenant }) => [tenant, ofBills([join(folder, tenant)])])),
      [changing]: {
        ...ofBills(Array.from({ length: PUBLISHED.bills }, (_, at) => join(folder, changing, String(at)))),
        allocation: { identity: [{ column: "SubAccountId", map }, { tag: "team" }] },
      },
      [metered]: kafka,
      ...changes,
    });
  writeMap(map, "first");
  const config = configOf();
  const logger = pino({ level: "warn" });
  const stores = await openStores({ config, logger, isService: true });
  const watch = await watchArrivals(stores);
  const workers = createWorkers(watch);
  const server = await startHttpServer({
    config,
    stores,
    control: workers.control,
    logger,
    version: "bench",
    mode: "both",
  });
  const setting: Setting = {
    folder,
    stores,
    watch,
    start: workers.start,
    url: server.url,
    newest: addDays(dayOf(new Date()), -bill.days - 1),
    say: (text) => say(`arrival: ${text}`),
  };
  try {
    const bills = await benchBills(setting, config, deliveries);
    const late = await benchLateLine(setting, config, repeat);
    const mapped = await benchConfiguration(setting, changing, repeat, (turn) => {
      writeMap(map, `turn-${turn}`);
      return configOf();
    });
    await runOnce(setting, config, metered);
    const priced = await benchConfiguration(setting, metered, repeat, (turn) => {
      const { cost_model, ...others } = kafka.plugin_settings as Readonly<Record<string, object>>;
      const model = { ...cost_model, compute_hourly_rate: `0.${2000 + turn}`, region_overrides: {} };
      return configOf({ [metered]: { ...kafka, plugin_settings: { ...others, cost_model: model } } });
    });
    return [
      ...[...bills].flatMap(([name, { arrivals, seen }]) =>
        arrivalFigures(name, arrivals, seen === undefined ? {} : { seen }),
      ),
      ...arrivalFigures("one late line, 200 days", late, { work: LATE_TARGET }),
      ...arrivalFigures("one changed row of a map, 200 days", mapped),
      ...arrivalFigures("one changed rate, 200 days", priced),
    ];
  } finally {
    await server.close(0);
    await stores.close();
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Setting {
  readonly folder: string;
  readonly stores: OpenedStores;
  readonly watch: ArrivalWatch;
  readonly start: Workers["start"];
  readonly url: string;
  /** First day of the newest bill. */
  readonly newest: string;
  readonly say: (text: string) => void;
}

interface Delivery {
  readonly lines: number;
  readonly format: BillFormat;
  readonly tenant: string;
}

interface Workers {
  /** Runs these tenants as they become due, all of them once at the beginning. */
  start(config: Config, tenants: readonly string[]): Promise<{ stop(): Promise<void> }>;
  /** For the API: the worker that runs now. */
  readonly control: PipelineControl;
}

function createWorkers({ stores, observer }: ArrivalWatch): Workers {
  let current: Worker | undefined;
  return {
    async start(config, names) {
      const ending = new AbortController();
      const worker = await createWorker({
        config,
        stores,
        logger: pino({ level: "warn" }),
        observers: [observer],
        tenants: names.flatMap((name) => config.tenants.get(name) ?? []),
        signal: ending.signal,
      });
      current = worker;
      const ended = worker.repeat();
      return {
        async stop() {
          ending.abort();
          await ended;
        },
      };
    },
    control: {
      async trigger() {
        throw new Error("nobody triggers runs");
      },
      lookForDue: () => current?.control.lookForDue(),
    },
  };
}

interface Arrivals {
  readonly arrivals: Arrival[];
  /** Target for the time until it is seen. */
  readonly seen: number | undefined;
}

async function benchBills(
  setting: Setting,
  config: Config,
  deliveries: readonly Delivery[],
): Promise<ReadonlyMap<string, Arrivals>> {
  const { folder, watch, stores, url, newest, say } = setting;
  const found = new Map<string, Arrivals>();
  const keep = (name: string, arrival: Arrival, seen?: number) => {
    const known = found.get(name) ?? { arrivals: [], seen };
    found.set(name, { ...known, arrivals: [...known.arrivals, arrival] });
  };
  for (const lines of new Set(deliveries.map((each) => each.lines))) {
    say(`making a bill of ${lines} lines`);
    const { client } = await stores.tenant(changing);
    const bills = await madeBill(client, join(folder, `made-${lines}`), { lines, first: newest });
    const total = await billedIn(client, bills);
    const mine = deliveries.filter((each) => each.lines === lines);
    const names = mine.map(({ tenant }) => tenant);
    const worker = await setting.start(config, names);
    await watch.settled(names);
    for (const { tenant, format } of mine) {
      const name = `${lines.toLocaleString("en")} lines, ${format}`;
      say(name);
      const isWhole = ({ total_amount }: Sums) => total_amount === total;
      const deliver = () => drop(bills.files[format], join(folder, tenant));
      keep(name, await watch.arrival(tenant, deliver, seenIn(url, tenant, isWhole)), SEEN_TARGETS.get(lines));
      if (format !== "Parquet") continue;
      say(`${name}, usage`);
      const isSplit = ({ buckets }: Sums) =>
        buckets.every(({ dimensions }) => dimensions.identity_id !== "UNALLOCATED");
      const upload = () => uploadUsage(url, tenant, bills.usage);
      keep(
        `usage of 30 days, ${lines.toLocaleString("en")} lines`,
        await watch.arrival(tenant, upload, seenIn(url, tenant, isSplit)),
      );
    }
    await worker.stop();
  }
  return found;
}

/** Publishes 210 days, then delivers the newest bill again with a line more. */
async function benchLateLine(setting: Setting, config: Config, repeat: number): Promise<Arrival[]> {
  const { folder, watch, stores, url, newest, say } = setting;
  const { client } = await stores.tenant(changing);
  const made = async (at: number, lines: number) =>
    await madeBill(client, join(folder, `month-${at}-${lines}`), {
      lines,
      first: addDays(newest, -bill.days * at),
    });
  say(`publishing ${PUBLISHED.bills * bill.days} days`);
  for (let at = 0; at < PUBLISHED.bills; at++)
    drop((await made(at, PUBLISHED.lines)).files.CSV, join(folder, changing, String(at)));
  const worker = await setting.start(config, [changing]);
  await watch.settled([changing]);
  const arrivals: Arrival[] = [];
  for (let turn = 1; turn <= repeat; turn++) {
    say(`one late line, ${turn} of ${repeat}`);
    const { files } = await made(0, PUBLISHED.lines + turn);
    const rows = PUBLISHED.bills * PUBLISHED.lines + turn;
    const deliver = () => drop(files.CSV, join(folder, changing, "0"));
    arrivals.push(
      await watch.arrival(
        changing,
        deliver,
        seenIn(url, changing, ({ total_rows }) => total_rows === rows),
      ),
    );
  }
  await worker.stop();
  return arrivals;
}

/** Starts a worker with a changed configuration, which is like a restart of the service without its start. */
async function benchConfiguration(
  { watch, url, start, say }: Setting,
  tenant: string,
  repeat: number,
  changed: (turn: number) => Config,
): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  for (let turn = 1; turn <= repeat; turn++) {
    say(`${tenant}: a change of the configuration, ${turn} of ${repeat}`);
    const config = changed(turn);
    const before = JSON.stringify(await sumsOf(url, tenant));
    let worker: { stop(): Promise<void> } | undefined;
    const deliver = async () => {
      worker = await start(config, [tenant]);
    };
    const isOther = (sums: Sums) => JSON.stringify(sums) !== before;
    arrivals.push(await watch.arrival(tenant, deliver, seenIn(url, tenant, isOther)));
    await worker?.stop();
  }
  return arrivals;
}

async function runOnce({ start, watch }: Setting, config: Config, tenant: string): Promise<void> {
  const worker = await start(config, [tenant]);
  await watch.settled([tenant]);
  await worker.stop();
}
