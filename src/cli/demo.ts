import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { loadConfig } from "../config/load.js";
import { formatProblems } from "../config/problem.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import type { SimulatedTenant } from "../simulator/tenants.js";
import { openStores } from "../store/open-stores.js";
import { type Command, CommandFailed, type CommandIo, parseOptions } from "./command.js";
import { createLogger } from "./logger.js";
import { runProgress } from "./progress.js";
import { printReconciliation } from "./reconcile.js";
import { serveStores } from "./serve.js";
import { simulationOptions, simulationSize, startSimulation, tenantsSection, whole } from "./simulation.js";
import { createWorker } from "./worker.js";

/** Credentials of the demo's SQL port: it holds made-up data and listens on loopback. */
const sqlUser = "demo";
const sqlPassword = "demo";

/**
 * Shows the whole way with nothing but the package: simulated upstreams of every ecosystem, the embedded engines, one run of the pipeline, the
 * proof that it adds up, and the API.
 */
export const demo: Command = {
  name: "demo",
  summary: "see it work: simulated costs, embedded stores, no credentials and no network",
  usage:
    "demo [--exit] [--size tiny|small|medium|large|huge] [--days N] [--seed N] [--port N] [--sql-port N] [--data-dir DIR]",
  async run(args, io) {
    const options = demoOptions(args);
    const folder = options.dataDir ?? mkdtempSync(join(tmpdir(), "chargehouse-demo-"));
    mkdirSync(folder, { recursive: true });
    const simulation = await startSimulation(options);
    try {
      return await runDemo({ ...options, folder, simulated: simulation.tenants }, io);
    } finally {
      await simulation.close();
      if (options.dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    }
  },
};

type DemoOptions = ReturnType<typeof demoOptions>;

function demoOptions(args: readonly string[]) {
  const options = parseOptions(args, {
    ...simulationOptions,
    exit: { type: "boolean", default: false },
    port: { type: "string", default: "8080" },
    "sql-port": { type: "string", default: "8124" },
    "data-dir": { type: "string" },
  });
  return {
    ...simulationSize(options),
    exit: options.exit,
    apiPort: whole("port", options.port, 1, 65_535),
    sqlPort: whole("sql-port", options["sql-port"], 1, 65_535),
    dataDir: options["data-dir"] === undefined ? undefined : resolve(options["data-dir"]),
  };
}

type DemoInput = DemoOptions & { readonly folder: string; readonly simulated: readonly SimulatedTenant[] };

async function runDemo(input: DemoInput, io: CommandIo): Promise<number> {
  const config = demoConfig(input, io);
  const names = [...config.tenants.keys()];
  io.stdout.write(`Starting the embedded stores in ${input.folder}\n`);
  const logger = createLogger(config.logging);
  const stores = await openStores({ config, logger, signal: io.signal });
  let handedOver = false;
  try {
    io.stdout.write(
      `Gathering and allocating ${input.days - 1} days of ${names.length} tenants: ${names.join(", ")}\n`,
    );
    const progress = runProgress(io.stderr, logger);
    const worker = await createWorker({
      config,
      stores,
      logger,
      observers: [progress.observer],
      signal: io.signal,
    });
    const started = performance.now();
    const results = await worker.cycles.run([...config.tenants.values()], {
      trigger: "cli",
      signal: io.signal,
    });
    progress.stop();
    const rows = [...results.values()].reduce(
      (sum, result) => sum + (result?.chargeback_rows_written ?? 0),
      0,
    );
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    io.stdout.write(`${rows} chargeback rows in ${seconds} s\n\nDoes every cent arrive?\n`);
    const adds = await printReconciliation(stores, names, io, { everyDay: false });
    const complete = [...results.values()].every((result) => result?.status === "completed");
    if (!adds || !complete) return 1;
    if (input.exit) return 0;
    handedOver = true;
    const onListening = (url: string) => io.stdout.write(thingsToTry(url, input.sqlPort, names));
    return await serveStores({ config, logger, stores, mode: "both", io, onListening });
  } finally {
    if (!handedOver) await stores.close();
  }
}

/** The configuration that a user would write for these tenants, as text, so that the demo takes the same way in. */
function demoConfig(input: DemoInput, io: CommandIo) {
  const text = stringify({
    data_dir: join(input.folder, "data"),
    logging: { level: "warn", format: "pretty" },
    api: { port: input.apiPort },
    embedded: { sql_port: input.sqlPort, sql_user: sqlUser, sql_password: sqlPassword },
    tenants: tenantsSection(input.simulated),
  });
  const loaded = loadConfig(text, { file: "demo", env: io.env, ecosystems });
  if (!loaded.ok) throw new CommandFailed(formatProblems(loaded.problems), 1);
  return loaded.config;
}

function thingsToTry(url: string, sqlPort: number, names: readonly string[]): string {
  const tenant = names[0] ?? "";
  const api = `${url}/api/v1`;
  return `
The API listens on ${url}. Things to try, in another terminal:

  curl -s '${api}/readiness'
  curl -s '${api}/tenants/${tenant}/chargebacks?page_size=3'
  curl -s '${api}/tenants/${tenant}/chargebacks/aggregate?group_by=identity_id&time_bucket=month'
  curl -s -X POST '${api}/tenants/${tenant}/export' -H 'Content-Type: application/json' -d '{}' | head
  curl -s '${sqlUrl(sqlPort)}/?database=${tenant}' --data-binary \\
    'SELECT identity_id, sum(total_amount) AS cost FROM daily_cost_by_identity GROUP BY identity_id ORDER BY cost DESC LIMIT 5 FORMAT PrettyCompact'

Every endpoint, with examples: ${url}/docs
Ctrl-C stops the demo.
`;
}

function sqlUrl(port: number): string {
  return `http://${sqlUser}:${sqlPassword}@127.0.0.1:${port}`;
}
