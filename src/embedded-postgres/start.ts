/**
 * The embedded Postgres: a real server from npm, reached only through a unix socket, which we keep running.
 *
 * The caller owns the data directory (`../data-dir.ts`). The server ends together with our process, in whichever way
 * that ends. If a server of a killed predecessor is still running, it is stopped first. If the server dies while we
 * run, it is restarted with back-off, and pools reconnect by themselves. If its disk is full, it restarts as soon as
 * there is space.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import type pg from "pg";
import type { Logger } from "pino";
import { socketFolder } from "../common/socket-folder.js";
import { copyFolders, usableBinaries } from "./binaries.js";
import { ensureCluster } from "./cluster.js";
import { clusterFiles, SUPERUSER } from "./cluster-files.js";
import { diskFullOn, PostgresDiskFullError, reportsDiskFull, waitForRoom } from "./disk-full.js";
import { stopOrphan } from "./orphan-postmaster.js";
import { type ServerRun, startPostgres, stopServer, waitUntilReady } from "./server.js";
import { type ServerUser, serverUser } from "./server-user.js";

export interface EmbeddedPostgresOptions {
  /** The claimed data directory. `cluster-files.ts` lists the files in it. */
  dataDir: string;
  logger: Logger;
  /** Cancels the start. `stop()` ends a running server. */
  signal?: AbortSignal | undefined;
  /** The `native` folder of the Postgres programs. Default: that of the npm package for this platform. */
  nativeDir?: string | undefined;
  /** Folders for a copy of the programs if the server's user cannot reach them. Default: see `binaries.ts`. */
  copyFolders?: readonly string[] | undefined;
}

export interface EmbeddedPostgres {
  /** For `openPostgres`. Stays valid when the server restarts. */
  readonly connection: pg.PoolConfig;
  /** Pid of the postmaster. It changes when the server restarts after a crash. */
  readonly pid: number;
  /** Set while the server is down because of a full disk. Undefined while it runs, or restarts after any other end. */
  readonly outage: PostgresDiskFullError | undefined;
  /** Ends the server, waiting up to 10 s for its checkpoint. Has no effect when called again. */
  stop(): Promise<void>;
}

/** The pause before a restart doubles up to the limit. It is reset after a run of a minute, or if the disk was full. */
const BACKOFF_MS = { first: 100, limit: 10_000, forgottenAfter: 60_000 };

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger } = options;
  const files = clusterFiles(resolve(options.dataDir));
  const user = serverUser(files.cluster);
  const folders = options.copyFolders ?? copyFolders(files.dataDir);
  const binaries = await usableBinaries({ logger, user, copyFolders: folders, nativeDir: options.nativeDir });
  const password = await ensureCluster(files, binaries, user).catch((error: unknown) => {
    const output = String(error);
    throw (reportsDiskFull.test(output) && diskFullOn(files.cluster, output)) || error;
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
    const run = await startPostgres(files, binaries, user);
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
      const why = outage === undefined ? "starting it again" : outageText(outage);
      logger.error({ pid: run.pid, how, log }, `the embedded Postgres has died, ${why}`);
      if (Date.now() - started > BACKOFF_MS.forgottenAfter) pause = BACKOFF_MS.first;
      let wasFull = false;
      for (let alive = false; !alive && !stopping.signal.aborted; ) {
        wasFull ||= outage !== undefined;
        await waitForRoom(cluster, pause, stopping.signal);
        pause = Math.min(pause * 2, BACKOFF_MS.limit);
        alive = !stopping.signal.aborted && (await relaunch());
      }
      // A full disk is not the server's fault, so if it happens again soon, that is no reason to wait longer.
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
        logger.error({ err: error }, `could not restart the embedded Postgres, ${outageText(outage)}`);
      return false;
    }
  };
  const supervising = keepGoing();

  const stop = async (): Promise<void> => {
    stopping.abort();
    await stopServer(run);
    await supervising; // a restart in progress has ended, and its server is `run` now
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

/** Logged once per outage. */
function outageText({ message }: PostgresDiskFullError): string {
  return `because ${message}. Make room: it is started again by itself then`;
}

/**
 * Ends a server if our process ends without stopping it, such as by `kill -9`. Otherwise the server would go on with 60
 * MB of memory until the next start. A shell waits for the end of a pipe whose other end only we have, so the kernel
 * notifies it in whichever way we end. It takes 1 MB, and requests a fast shutdown. If that fails, the next start stops
 * the server (`orphan-postmaster.ts`).
 */
function watchParent({ pid, ended }: ServerRun, user: ServerUser | undefined, logger: Logger): void {
  const watchdog = spawn("/bin/sh", ["-c", 'read -r _; kill -INT "$0"', String(pid)], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // Ctrl-C in a terminal must not end it before us
    ...user,
  });
  watchdog.on("error", (err) =>
    logger.warn({ err }, "the embedded Postgres will outlive a kill -9 of this process"),
  );
  watchdog.unref();
  const stdin = watchdog.stdin as Socket;
  stdin.on("error", () => undefined);
  stdin.unref();
  void ended.then(() => watchdog.kill("SIGKILL"));
}
