/**
 * The embedded Postgres: a real server from npm, reached only through a unix socket, which we keep running.
 *
 * Whoever starts it owns the data directory (`../data-dir.ts`). It ends with us, however we end; one that a killed predecessor
 * left behind all the same is stopped first. One that dies while we run is started again, with back-off. Pools reconnect by
 * themselves. One that has no room on its disk is started again as soon as it has some.
 */
import { resolve } from "node:path";
import type pg from "pg";
import type { Logger } from "pino";
import { socketFolder } from "../socket-folder.js";
import { copyFolders, usableBinaries } from "./binaries.js";
import { ensureCluster } from "./cluster.js";
import { clusterFiles, SUPERUSER } from "./cluster-files.js";
import { diskFullOn, PostgresDiskFullError, reportsDiskFull, waitForRoom } from "./disk-full.js";
import { stopOrphan } from "./orphan-postmaster.js";
import { watchParent } from "./parent-watchdog.js";
import { type ServerRun, startServer, stopServer, waitUntilReady } from "./server.js";
import { serverUser } from "./server-user.js";

export interface EmbeddedPostgresOptions {
  /** The claimed data directory; the files in it are listed in `cluster-files.ts`. */
  dataDir: string;
  logger: Logger;
  /** Gives up the start. A running server is ended by `stop()`. */
  signal?: AbortSignal | undefined;
  /** The `native` folder of the Postgres programs. Default: that of npm's package for this platform. */
  nativeDir?: string | undefined;
  /** Where a copy of the programs may be made when the server's user cannot reach them. Default: see `binaries.ts`. */
  copyFolders?: readonly string[] | undefined;
}

export interface EmbeddedPostgres {
  /** For `openPostgres`. Stays good over restarts of the server. */
  readonly connection: pg.PoolConfig;
  /** The postmaster's; changes when the server is restarted after a crash. */
  readonly pid: number;
  /** Why nobody can connect; undefined while it runs, or is started again after any other end. */
  readonly outage: PostgresDiskFullError | undefined;
  /** Ends the server, waiting up to 10 s for its checkpoint. Harmless when called twice. */
  stop(): Promise<void>;
}

/** The pause before a restart doubles up to the limit, and starts anew after a run of a minute, or when the disk was full. */
const BACKOFF_MS = { first: 100, limit: 10_000, forgottenAfter: 60_000 };

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger } = options;
  const files = clusterFiles(resolve(options.dataDir));
  const user = serverUser(files.cluster);
  const folders = options.copyFolders ?? copyFolders(files.dataDir);
  const binaries = await usableBinaries({ logger, user, copyFolders: folders, nativeDir: options.nativeDir });
  const password = await ensureCluster(files, binaries, user).catch((error: unknown) => {
    const said = String(error);
    throw (reportsDiskFull.test(said) && diskFullOn(files.cluster, said)) || error;
  });
  const socket = socketFolder(files.cluster, ".s.PGSQL.5432");
  const connection = {
    host: socket.path,
    port: 5432,
    user: SUPERUSER,
    password,
    database: "postgres",
    ssl: false,
  };

  const launch = async (signal: AbortSignal | undefined): Promise<ServerRun> => {
    await stopOrphan(files.cluster, logger);
    signal?.throwIfAborted();
    const run = await startServer(files, binaries, user);
    watchParent(run, user, logger);
    try {
      await waitUntilReady(run, connection, signal);
      return run;
    } catch (error) {
      await stopServer(run);
      signal?.throwIfAborted();
      throw diskFullOn(files.cluster, run.lastLines()) ?? error;
    }
  };
  try {
    const first = await launch(options.signal);
    return supervise(first, { launch, cluster: files.cluster, connection, logger, closed: socket.close });
  } catch (error) {
    socket.close();
    throw error;
  }
}

interface Supervision {
  launch(signal: AbortSignal | undefined): Promise<ServerRun>;
  cluster: string;
  connection: pg.PoolConfig;
  logger: Logger;
  closed(): void;
}

function supervise(first: ServerRun, supervision: Supervision): EmbeddedPostgres {
  const { launch, cluster, connection, logger, closed } = supervision;
  let run = first;
  let outage: PostgresDiskFullError | undefined;
  let stopped: Promise<void> | undefined;
  const stopping = new AbortController();

  const keepGoing = async (): Promise<void> => {
    let pause = BACKOFF_MS.first;
    while (!stopping.signal.aborted) {
      const started = Date.now();
      const how = await run.ended;
      if (stopping.signal.aborted) return;
      const log = run.lastLines();
      outage = diskFullOn(cluster, log);
      const why = outage === undefined ? "starting it again" : goesOn(outage);
      logger.error({ pid: run.pid, how, log }, `the embedded Postgres has died, ${why}`);
      if (Date.now() - started > BACKOFF_MS.forgottenAfter) pause = BACKOFF_MS.first;
      let wasFull = false;
      for (let alive = false; !alive && !stopping.signal.aborted; ) {
        wasFull ||= outage !== undefined;
        await waitForRoom(cluster, pause, stopping.signal);
        pause = Math.min(pause * 2, BACKOFF_MS.limit);
        alive = !stopping.signal.aborted && (await relaunch());
      }
      // It was not its own fault: a disk that is full once more, and soon, is no reason to wait longer.
      if (wasFull) pause = BACKOFF_MS.first;
    }
  };
  const relaunch = async (): Promise<boolean> => {
    try {
      run = await launch(stopping.signal);
      outage = undefined;
      logger.info({ pid: run.pid }, "restarted the embedded Postgres");
      return true;
    } catch (error) {
      const before = outage;
      outage = error instanceof PostgresDiskFullError ? error : undefined;
      if (outage === undefined) logger.error({ err: error }, "could not restart the embedded Postgres");
      else if (before === undefined)
        logger.error({ err: error }, `could not restart the embedded Postgres, ${goesOn(outage)}`);
      return false;
    }
  };
  const kept = keepGoing();

  const stop = async (): Promise<void> => {
    stopping.abort();
    await stopServer(run);
    await kept; // a restart that was under way has ended: its server is `run` now
    await stopServer(run);
    closed();
  };
  return {
    connection,
    get pid() {
      return run.pid;
    },
    get outage() {
      return outage;
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Said once, however long it lasts. */
function goesOn({ message }: PostgresDiskFullError): string {
  return `because ${message}. Make room: it is started again by itself then`;
}
