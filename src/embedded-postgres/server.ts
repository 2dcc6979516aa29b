/** One run of the embedded Postgres server: start, readiness and end. `start.ts` keeps one running. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, fchownSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { PostgresBinaries } from "./binaries.js";
import { type ClusterFiles, dataPath, serverEnvironment } from "./cluster-files.js";
import { ENDINGS, serverClusterName } from "./orphan-postmaster.js";
import type { ServerUser } from "./server-user.js";

/** Tags, leases and inventory are small: megabytes, not gigabytes. The memory is for ClickHouse. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "", // no TCP at all
  unix_socket_directories: ".", // in the cluster: private, removed with it, and reachable without walking its parents
  unix_socket_permissions: "0700",
  max_connections: "60",
  shared_buffers: "64MB",
  max_parallel_workers_per_gather: "0",
  // Each commit writes its own log, and checkpoints are small. An idle server that writes a heartbeat now and then would
  // otherwise wake five times a second.
  wal_writer_delay: "10s",
  checkpoint_completion_target: "0.1",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** A longer log is moved aside at a start. One older log is kept. */
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;

export interface ServerRun {
  child: ChildProcess;
  pid: number;
  /** Resolves when the server has ended, to its signal, exit code or error. */
  ended: Promise<string>;
  /** The last lines that the server logged in this run. */
  lastLines(): string;
}

export async function startPostgres(
  files: ClusterFiles,
  binaries: PostgresBinaries,
  user: ServerUser | undefined,
): Promise<ServerRun> {
  const logStart = rotateLog(files.log);
  const log = openLog(files);
  const named = { ...SETTINGS, cluster_name: serverClusterName(files.cluster) };
  const settings = Object.entries(named).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(binaries.postgres, ["-D", dataPath(files.cluster), ...settings], {
    cwd: files.cluster,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    // A session of its own: Ctrl-C in a terminal goes to the whole process group, and must not end the server before we
    // have finished our work with it.
    detached: true,
    ...user,
  });
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  if (child.pid === undefined) throw new Error(`Postgres cannot be started: ${await ended}`);
  const lastLines = () => linesAfter(files.log, logStart);
  return { child, pid: child.pid, ended, lastLines };
}

/**
 * Opens the log as the owner of the data directory: if root writes to it today, that user must be able to append
 * tomorrow.
 */
function openLog({ log, dataDir }: ClusterFiles): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(log, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  const { uid, gid } = statSync(dataDir);
  if (process.getuid?.() === 0 && uid !== 0) fchownSync(fd, uid, gid);
  return fd;
}

/** Returns the length of the log at the start of the run. */
function rotateLog(log: string): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size < LOG_LIMIT_BYTES) return size;
  renameSync(log, `${log}.1`);
  return 0;
}

/** Deadlines for a server that does not respond, and for one that keeps responding "starting up". */
const SILENCE_DEADLINE_MS = 30_000;
const RECOVERY_DEADLINE_MS = 10 * 60_000;
/** SQLSTATE cannot_connect_now: the server is recovering after a crash, which may take long. */
const STARTING_UP = "57P03";

/** Returns the last lines that the server has logged since its start. Empty if its log is gone. */
function linesAfter(log: string, start: number): string {
  try {
    return readFileSync(log).subarray(start).toString().trim().split("\n").slice(-20).join("\n");
  } catch {
    return "";
  }
}

/** Waits until the server responds to a query. If it never does, the error contains its last lines. */
export async function waitUntilReady(
  run: ServerRun,
  connection: pg.PoolConfig,
  signal: AbortSignal | undefined,
): Promise<void> {
  const started = Date.now();
  let lastResponse = started;
  let end: string | undefined;
  void run.ended.then((how) => {
    end = how;
  });
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 250)) {
    const problem = await probe(connection);
    if (problem === undefined) return;
    signal?.throwIfAborted();
    if (problem.code === STARTING_UP) lastResponse = Date.now();
    const givenUp =
      Date.now() - lastResponse > SILENCE_DEADLINE_MS || Date.now() - started > RECOVERY_DEADLINE_MS;
    if (end !== undefined || givenUp) {
      const what =
        end === undefined ? `does not respond (${problem.message})` : `ended at its start (${end})`;
      throw new Error(`The embedded Postgres ${what}. Its last lines:\n${run.lastLines()}`);
    }
    await delay(pause);
  }
}

async function probe(connection: pg.PoolConfig): Promise<{ code?: string; message: string } | undefined> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => undefined); // a connection that breaks later is noticed by the next probe
  try {
    await client.connect();
    await client.query("SELECT 1");
    return undefined;
  } catch (error) {
    return error as { code?: string; message: string };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Fast shutdown: open transactions are rolled back, and everything is on disk. A server that hangs is killed. */
export async function stopServer(run: ServerRun): Promise<void> {
  const running = Symbol("running");
  for (const { signal, patienceMs } of ENDINGS) {
    run.child.kill(signal);
    const timer = new AbortController();
    const patience = delay(patienceMs, running, { signal: timer.signal }).catch(() => running);
    const outcome = await Promise.race([run.ended, patience]);
    timer.abort();
    if (outcome !== running) return;
  }
}
