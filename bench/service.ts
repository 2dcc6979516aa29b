/**
 * Starts the HTTP service in a process of its own, so that its memory can be measured. It reads the stores that the
 * benchmark has open.
 */
import { spawn } from "node:child_process";
import { once as happens } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { addDays } from "../src/common/days.js";
import { projectRoot } from "../src/common/project.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { TenantStore } from "../src/stores/stores.js";
import { freePort } from "../test/free-port.js";
import { fetchJson, readAll } from "./http-client.js";
import { allDays } from "./organisation.js";
import { tenantYaml } from "./stores.js";

export interface BenchService {
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** The built program; `npm run bench` builds it first. */
export const program = join(projectRoot(), "dist", "main.js");

export interface ServiceOptions {
  /** Section `api` of its configuration, without the port. */
  readonly api: Readonly<Record<string, unknown>>;
  readonly mode: "api" | "both";
  /**
   * More tenants by name, which is also the name of their database: sections of the configuration without `storage`.
   */
  readonly others: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const usual: ServiceOptions = { api: { request_timeout_seconds: 300 }, mode: "api", others: {} };

/** `folder` is that of the open stores. In mode `both`, the service runs its tenants once. */
export async function startBenchService(
  stores: OpenedStores,
  store: TenantStore,
  folder: string,
  { api, mode, others }: ServiceOptions = usual,
): Promise<BenchService> {
  const engine = await stores.embeddedClickHouse?.endpoint();
  if (engine === undefined) throw new Error("the engine is not embedded");
  const { host, user, password } = stores.postgres.options;
  const port = await freePort();
  const storageOf = (database: string) => `embedded:${database}`;
  const more = Object.entries(others).map(([name, tenant]) => {
    const storage = { connection_string: storageOf(name) };
    return `\n  ${name}: ${JSON.stringify({ ...tenant, storage })}`;
  });
  const file = join(folder, "service.yaml");
  writeFileSync(
    file,
    `data_dir: ${JSON.stringify(join(folder, "data"))}
postgres:
  connection_string: ${JSON.stringify(`postgres://${user}:${String(password)}@/postgres?host=${host}`)}
api: ${JSON.stringify({ ...api, port, rate_limit: { max_per_minute: 1_000_000 } })}
features: { enable_periodic_refresh: false }
logging: { level: warn }
tenants:${tenantYaml(store.tenantName, storageOf(store.database))}${more.join("")}
`,
    { mode: 0o600 },
  );
  const args = ["--import", "tsx", join(import.meta.dirname, "service-process.ts"), file, mode];
  return await spawnService(args, port, { BENCH_ENGINE: JSON.stringify(engine) });
}

/** Number of requests of a kind before one is measured, so that their code is compiled. */
export const WARM_UP = 20;

/**
 * Requests a page, the next one and an aggregate, a few times, of days that no benchmark uses. A service that has just
 * started is slower than after its first minute: by 8 ms for a page by cursor.
 */
export async function warmUp({ url }: BenchService, tenantName: string): Promise<void> {
  const path = `${url}/api/v1/tenants/${tenantName}/chargebacks`;
  for (let turn = 0; turn < WARM_UP; turn++) {
    const days = `start_date=${addDays(allDays[0] ?? "", -5000 - turn)}&end_date=${allDays.at(-1)}`;
    const { body } = await fetchJson<{ next_cursor: string }>(`${path}?${days}&page_size=100`);
    await readAll(`${path}?${days}&page_size=100&cursor=${body.next_cursor}`);
    await readAll(`${path}/aggregate?${days}&group_by=product_type`);
  }
}

/** Starts Node.js with these arguments and waits until the service responds. */
export async function spawnService(
  args: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<BenchService> {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (data: Buffer) => {
    output = (output + data.toString()).slice(-2000);
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = happens(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await untilReady(async () => {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}: ${output}`);
      return await responds(`${url}/health`);
    }, 60_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid, stop };
}

/** Repeats `ask` until it returns true. */
export async function untilReady(send: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await send())) {
    if (performance.now() > deadline) throw new Error(`nothing after ${withinMs} ms`);
    await delay(5);
  }
}

async function responds(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
