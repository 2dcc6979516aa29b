import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import type { TenantConfig } from "../config/config.js";
import { loadConfig } from "../config/load.js";
import { formatProblems } from "../config/reader/problem.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import type { RunResult } from "../runner/sql/runs.js";
import { CLOUD_BILLS_TENANT } from "../simulator/index.js";
import { openStores } from "../stores/open-stores.js";
import { type Command, CommandError, type CommandIo, type Options, parseOptions } from "./command.js";
import { requireFreePort } from "./free-port.js";
import { commandLogger } from "./logger.js";
import { progressInLog, progressOnLine } from "./progress.js";
import { exitCodes, printReconciliation } from "./reconcile.js";
import { runSummary } from "./run-summary.js";
import { serveStores } from "./serve.js";
import {
  type Simulation,
  simulationOptions,
  simulationSize,
  startSimulation,
  tenantsSection,
  whole,
} from "./simulation.js";
import { statusLine } from "./status-line.js";
import { printWhoPays } from "./who-pays.js";
import { createWorker } from "./worker.js";
import { wrapWords } from "./wrap.js";
import { writing } from "./writing.js";

const host = "127.0.0.1";
/** Credentials of the demo's SQL port. The password is new at each start, so nobody can know it in advance. */
const sqlUser = "demo";
const sqlPassword = randomBytes(12).toString("base64url");

const options = {
  exit: { type: "boolean", default: false, help: "end after the proof, and open no port" },
  ...simulationOptions,
  port: { type: "string", value: "N", default: "8080", help: "port of the API, on loopback" },
  "sql-port": { type: "string", value: "N", default: "8124", help: "port for SQL clients, on loopback" },
  "data-dir": {
    type: "string",
    value: "DIR",
    help: "where the embedded stores keep their data; a temporary folder by default",
  },
} as const satisfies Options;

/**
 * Runs the whole pipeline without external services: simulated upstreams, embedded engines, one run, the
 * reconciliation, and the API.
 */
export const demo: Command = {
  usage:
    "demo [--exit] [--size tiny|small|medium|large|huge] [--days N] [--seed N] [--port N] [--sql-port N] [--data-dir DIR]",
  options,
  async run(args, io) {
    const chosen = demoOptions(args);
    if (!chosen.exit) {
      await requireFreePort(chosen.apiPort, host, "choose another with --port");
      await requireFreePort(chosen.sqlPort, host, "choose another with --sql-port");
    }
    const folder = chosen.dataDir ?? mkdtempSync(join(tmpdir(), "chargehouse-demo-"));
    await writing("data-dir", folder, () => mkdirSync(folder, { recursive: true }));
    const simulation = await startSimulation(chosen);
    try {
      return await runDemo({ ...chosen, folder, simulation }, io);
    } finally {
      await simulation.close();
      if (chosen.dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    }
  },
};

type DemoOptions = ReturnType<typeof demoOptions>;

function demoOptions(args: readonly string[]) {
  const given = parseOptions(args, options);
  return {
    ...simulationSize(given),
    exit: given.exit,
    apiPort: whole("port", given.port, 0, 65_535),
    sqlPort: whole("sql-port", given["sql-port"], 1, 65_535),
    dataDir: given["data-dir"] === undefined ? undefined : resolve(given["data-dir"]),
  };
}

type DemoInput = DemoOptions & { readonly folder: string; readonly simulation: Simulation };

async function runDemo(input: DemoInput, io: CommandIo): Promise<number> {
  const config = demoConfig(input, io);
  const names = [...config.tenants.keys()];
  io.stdout.write(`Starting the embedded stores in ${input.folder}\n`);
  const line = statusLine(io.stderr);
  const logger = commandLogger(config.logging, io.stderr, line);
  const stores = await openStores({ config, logger, signal: io.signal, isService: true });
  let handedOver = false;
  try {
    const begun = `Gathering and allocating ${input.days - 1} days of ${names.length} tenants: ${names.join(", ")}`;
    io.stdout.write(`${wrapWords(begun, 80).join("\n")}\n`);
    let inCycle = names.length;
    const worker = await createWorker({
      config,
      stores,
      logger,
      observers: [io.stderr.isTTY ? progressOnLine(line, () => inCycle) : progressInLog(logger)],
      signal: io.signal,
    });
    const started = performance.now();
    const run = async (tenants: readonly TenantConfig[]) => {
      inCycle = tenants.length;
      const results = await worker.cycles.run(tenants, { trigger: "cli", signal: io.signal });
      line.clear();
      return results;
    };
    /** Returns the exit code: 0 if every run completed and all published amounts add up. */
    const prove = async (results: ReadonlyMap<string, RunResult | undefined>) => {
      const proof = await printReconciliation(stores, [...results.keys()], io, { everyDay: false });
      if (proof !== "adds_up") return exitCodes[proof];
      return [...results.values()].every((result) => result?.status === "completed") ? 0 : 1;
    };
    const results = await run([...config.tenants.values()]);
    if (io.signal.aborted) {
      io.stdout.write("The demo was interrupted: nothing was checked.\n");
      return 1;
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    io.stdout.write(
      `${runSummary(results, io.stdout.columns)}It took ${seconds} s.\n\nDoes every cent arrive?\n`,
    );
    const proven = await prove(results);
    if (proven !== 0) return proven;
    io.stdout.write("\nWho pays?\n");
    await printWhoPays(stores, names, io);
    const day = input.simulation.bills.deliverAgain();
    io.stdout.write(`\nA bill is delivered again: Amazon had metered too little on ${day}.\n`);
    const again = await run(
      [config.tenants.get(CLOUD_BILLS_TENANT)].filter((tenant) => tenant !== undefined),
    );
    if (io.signal.aborted) {
      io.stdout.write("The demo was interrupted: that bill was not checked.\n");
      return 1;
    }
    io.stdout.write(`${runSummary(again, io.stdout.columns)}\nDoes it still add up?\n`);
    const provenAnew = await prove(again);
    if (provenAnew !== 0) return provenAnew;
    if (again.get(CLOUD_BILLS_TENANT)?.dates_calculated === 0) {
      io.stdout.write("THE CORRECTED DAY WAS NOT PUBLISHED AGAIN.\n");
      return 1;
    }
    if (input.exit) return 0;
    handedOver = true;
    const onListening = (url: string) => io.stdout.write(thingsToTry(url, input.sqlPort, names));
    return await serveStores({ config, logger, stores, mode: "both", io, onListening });
  } finally {
    line.clear();
    if (!handedOver) await stores.close();
  }
}

/** Writes the configuration as a user would and parses it, so that the demo takes the usual code path. */
function demoConfig(input: DemoInput, io: CommandIo) {
  const text = stringify({
    data_dir: join(input.folder, "data"),
    logging: { level: "warn", format: "pretty" },
    api: { port: input.apiPort },
    ...(!input.exit && {
      embedded: { sql_port: input.sqlPort, sql_user: sqlUser, sql_password: sqlPassword },
    }),
    tenants: tenantsSection(input.simulation.tenants),
  });
  const loaded = loadConfig(text, { file: "demo", env: io.env, ecosystems });
  if (!loaded.ok) throw new CommandError(formatProblems(loaded.problems), 1);
  return loaded.config;
}

function thingsToTry(url: string, sqlPort: number, names: readonly string[]): string {
  const tenant = names[0] ?? "";
  const api = `${url}/api/v1`;
  return `
The service listens on ${url}. Open it in a browser to see the console.
Things to try, in another terminal:

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
