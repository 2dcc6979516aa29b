import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type BackupControl, openBackupControl } from "../backup/control.js";
import { MigrationRefused } from "../common/migrate/report.js";
import { packageVersion } from "../common/project.js";
import type { Config } from "../config/config.js";
import { refusalToListen } from "../config/settings/api.js";
import type { HttpServer } from "../http/server/server.js";
import { errorText } from "../stores/error-text.js";
import { type OpenedStores, openStores } from "../stores/open-stores.js";
import { isDiskFull } from "../stores/store-trouble.js";
import { certificateProblem } from "./certificates.js";
import {
  type Command,
  CommandError,
  type CommandIo,
  type Options,
  parseOptions,
  UsageError,
} from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { cannotListen } from "./free-port.js";
import { createLogger } from "./logger.js";
import { untilStopped } from "./until-stopped.js";
import { createWorker, type Worker } from "./worker.js";

/** `api` runs only the API, `worker` only the pipeline, and `both` runs both in one process. */
export const serveModes = ["api", "worker", "both"] as const;
export type ServeMode = (typeof serveModes)[number];

/** The most seconds that a shutdown waits for runs and requests. */
const shutdownSeconds = 30;

const options = {
  ...configOptions,
  mode: {
    type: "string",
    value: "MODE",
    default: "both",
    help: "both: the API and the pipeline; api: never runs the pipeline; worker: no API",
  },
} as const satisfies Options;

export const serve: Command = {
  usage: "serve --config FILE [--mode api|worker|both] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const mode = serveModes.find((each) => each === given.mode);
    if (mode === undefined)
      throw new UsageError(`--mode must be one of ${serveModes.join(", ")}, not "${given.mode}"`);
    const config = await configurationOf(given, io);
    const refusal =
      (mode === "worker" ? undefined : refusalToListen(config.api)) ?? (await certificateProblem(config));
    if (refusal !== undefined) throw new CommandError(refusal, 2);
    const logger = createLogger(config.logging);
    return await retryWhileDiskFull({ logger, signal: io.signal }, async () => {
      const opening = openStores({ config, logger, signal: io.signal, isService: true });
      await Promise.allSettled([opening, loadApi()]);
      const stores = await opening;
      return await serveStores({ config, logger, stores, mode, io });
    });
  },
};

/**
 * Loads the modules of the API. This takes about as long as the stores take to start in their own processes, so `serve`
 * does both at once.
 */
async function loadApi() {
  const [{ createServiceMetrics }, { startHttpServer }] = await Promise.all([
    import("../http/metrics.js"),
    import("../http/server/server.js"),
  ]);
  return { createServiceMetrics, startHttpServer };
}

/** The pause before a start that failed because of a full disk is repeated. */
const ROOM_PAUSE_MS = 2_000;

/**
 * Repeats the start while a disk is full, so that nobody has to restart the service once there is space. Logs it once.
 */
async function retryWhileDiskFull<T>(
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
  start: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (!isDiskFull(error) || signal.aborted) throw error;
      if (tries === 1)
        logger.error({ err: error }, `cannot start: ${errorText(error)}. It starts by itself then`);
      await delay(ROOM_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}

export interface ServeStores {
  readonly config: Config;
  readonly logger: Logger;
  readonly stores: OpenedStores;
  readonly mode: ServeMode;
  readonly io: CommandIo;
  /** Called when the process listens. */
  readonly onListening?: (url: string) => void;
}

/** Serves the opened stores until the signal aborts, and closes them in any case. */
export async function serveStores(input: ServeStores): Promise<number> {
  const { config, logger, stores, mode, io } = input;
  const started: Started = {};
  try {
    const { createServiceMetrics, startHttpServer } = await loadApi();
    started.backups = await openBackupControl({ stores, dataDir: config.data_dir, logger });
    const metrics = createServiceMetrics();
    if (mode !== "api") {
      started.worker = await createWorker({
        config,
        stores,
        logger,
        observers: [metrics.runs],
        signal: io.signal,
      });
      for (const tenant of config.tenants.keys()) metrics.runs.resumed(tenant);
    }
    const setting = mode === "worker" ? "worker_port" : "port";
    const port = config.api[setting];
    if (port !== undefined) {
      const version = packageVersion();
      const control = started.worker?.control;
      const listening = { ...config, api: { ...config.api, port } };
      started.server = await startHttpServer({
        config: listening,
        stores,
        control,
        logger,
        version,
        mode,
        metrics,
      }).catch((error) => {
        throw cannotListen(error, listening.api, `choose another with api.${setting}, or see api.host`);
      });
      const { url } = started.server;
      logger.info({ url, mode }, `chargehouse ${version} listens on ${url}`);
      input.onListening?.(url);
    }
    await openTenants(config, stores, { logger, signal: io.signal });
    await started.worker?.repeat();
    if (mode !== "worker" || config.features.enable_periodic_refresh) await untilStopped(io.signal);
    return 0;
  } finally {
    await shutDown(started, stores, logger);
  }
}

/** Components that are running and have to be stopped. */
interface Started {
  backups?: BackupControl | undefined;
  worker?: Worker;
  server?: HttpServer;
}

/** Opens every tenant's store. A refused schema ends the start; a store that is down only degrades its tenant. */
async function openTenants(
  config: Config,
  stores: OpenedStores,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(
    [...config.tenants.keys()].map(async (tenant) => {
      try {
        await stores.tenant(tenant);
      } catch (error) {
        if (error instanceof MigrationRefused) throw new CommandError(error.message, 1);
        if (!signal.aborted)
          logger.error({ err: error, tenant }, `Tenant ${tenant}: its store could not be opened`);
      }
    }),
  );
}

async function shutDown(
  { backups, worker, server }: Started,
  stores: OpenedStores,
  logger: Logger,
): Promise<void> {
  logger.info("shutting down");
  const orderly = Promise.allSettled([backups?.close(), server?.close(), worker?.settled()]);
  await Promise.race([orderly, delay(shutdownSeconds * 1000, undefined, { ref: false })]);
  await stores.close();
  logger.info("stopped");
}
