/** One run of the embedded Postgres server: it is started, waited for, and ended. `embedded.ts` keeps one running. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, fchownSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { PostgresBinaries } from "./binaries.js";
import { type ClusterFiles, dataPath, serverEnvironment } from "./cluster-files.js";
import { clusterName, ENDINGS } from "./orphan-postmaster.js";
import type { ServerUser } from "./server-user.js";

/** Tags, leases and inventory are small: megabytes, not gigabytes. ClickHouse shall have the memory. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "", // no TCP at all
  unix_socket_directories: ".", // in the cluster: private, gone with it, and reached without walking its parents
  unix_socket_permissions: "0700",
  max_connections: "60",
  shared_buffers: "64MB",
  max_parallel_workers_per_gather: "0",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** A log longer than this is put aside at a start; one older log is kept. */
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;

export interface ServerRun {
  child: ChildProcess;
  pid: number;
  /** Fulfilled when the server has ended, with a word on how. */
  ended: Promise<string>;
  /** The last lines that the server wrote in this run. */
  lastLines(): string;
}

export async function startServer(
  files: ClusterFiles,
  binaries: PostgresBinaries,
  user: ServerUser | undefined,
): Promise<ServerRun> {
  const logStart = rotateLog(files.log);
  const log = openLog(files);
  const named = { ...SETTINGS, cluster_name: clusterName(files.cluster) };
  const settings = Object.entries(named).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(binaries.postgres, ["-D", dataPath(files.cluster), ...settings], {
    cwd: files.cluster,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    // In a session of its own: Ctrl-C in a terminal goes to the whole process group, and must not end the server
    // before we have finished what we do with it.
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

/** The log belongs to whom the data directory belongs to: what root writes into today, that user appends to tomorrow. */
function openLog({ log, dataDir }: ClusterFiles): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(log, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  const { uid, gid } = statSync(dataDir);
  if (process.getuid?.() === 0 && uid !== 0) fchownSync(fd, uid, gid);
  return fd;
}

/** Returns the length of the log that the run will write to. */
function rotateLog(log: string): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size < LOG_LIMIT_BYTES) return size;
  renameSync(log, `${log}.1`);
  return 0;
}

/** From when a server that says nothing, or nothing but "starting up", is given up. */
const SILENCE_DEADLINE_MS = 30_000;
const RECOVERY_DEADLINE_MS = 10 * 60_000;
/** SQLSTATE cannot_connect_now: it replays its log after a crash, which takes as long as it takes. */
const STARTING_UP = "57P03";

/** The end of what the server has written since it started; nothing when its log is gone. */
function linesAfter(log: string, start: number): string {
  try {
    return readFileSync(log).subarray(start).toString().trim().split("\n").slice(-20).join("\n");
  } catch {
    return "";
  }
}

/** Waits until the server answers a query. The error of one that never does carries its last lines. */
export async function waitUntilReady(
  run: ServerRun,
  connection: pg.PoolConfig,
  signal: AbortSignal | undefined,
): Promise<void> {
  const started = Date.now();
  let heard = started;
  let end: string | undefined;
  void run.ended.then((how) => {
    end = how;
  });
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 250)) {
    const problem = await probe(connection);
    if (problem === undefined) return;
    signal?.throwIfAborted();
    if (problem.code === STARTING_UP) heard = Date.now();
    const givenUp = Date.now() - heard > SILENCE_DEADLINE_MS || Date.now() - started > RECOVERY_DEADLINE_MS;
    if (end !== undefined || givenUp) {
      const what = end === undefined ? `does not answer (${problem.message})` : `ended at its start (${end})`;
      throw new Error(`The embedded Postgres ${what}. Its last lines:\n${run.lastLines()}`);
    }
    await delay(pause);
  }
}

async function probe(connection: pg.PoolConfig): Promise<{ code?: string; message: string } | undefined> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => undefined); // a connection that breaks after its answer is the next probe's business
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

/** Fast shutdown: open transactions are rolled back, everything is on disk. A server that hangs is ended harder. */
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
