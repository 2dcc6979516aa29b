/**
 * Stops servers that a killed parent left behind. After `kill -9` of our process a shell ends the postmaster
 * (`parent-watchdog.ts`), but that shell can be killed as well, and the shutdown takes a moment. A server that is still
 * running owns its files, so the next start stops it. (Adopting it would save 100 ms, but there would be two kinds of
 * servers: a child whose end we are notified of, and one that we must poll.)
 *
 * A pid file proves nothing, because pids are reused. Each server therefore has a name that is unique to its cluster
 * (`cluster_name`), which Postgres shows in the command lines of the postmaster and of its children. The children of a
 * killed postmaster are found as well, because they would make Postgres fail ("pre-existing shared memory block is
 * still in use"). Command lines are used because, in a container without SYS_PTRACE, root cannot see the working
 * directories of other users' processes.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { serverEnvironment } from "./cluster-files.js";

/** The `cluster_name` of the server on this cluster. */
export function serverClusterName(cluster: string): string {
  const { dev, ino } = statSync(cluster, { bigint: true });
  return `chargehouse-${dev}-${ino}`;
}

/** Signals that end a server, in order: fast shutdown, immediate shutdown (recovers at the next start), kill. */
export const ENDINGS: readonly { signal: NodeJS.Signals; patienceMs: number }[] = [
  { signal: "SIGINT", patienceMs: 10_000 },
  { signal: "SIGQUIT", patienceMs: 5_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
];

/**
 * Stale once none of the cluster's processes is left. Postgres would take the pid in them for a running server if that
 * pid belongs to another program by now, or to a zombie, which process 1 of a container often does not reap.
 */
const STALE_FILES = ["postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"];

/** Afterwards no server runs on the cluster, and no stale file prevents a start. The caller owns the data directory. */
export async function stopOrphan(cluster: string, logger: Logger): Promise<void> {
  let alive = serversOf(cluster);
  if (alive.length > 0) {
    logger.warn(
      { cluster, pids: alive.map(({ pid }) => pid) },
      "stopping a Postgres left by an earlier process",
    );
  }
  for (const { signal, patienceMs } of ENDINGS) {
    // Only the postmaster gets the gentle signals: it ends its children. Without a postmaster they end by themselves.
    for (const { pid, isChild } of alive) if (!isChild || signal === "SIGKILL") send(pid, signal, cluster);
    const deadline = Date.now() + patienceMs;
    while (alive.length > 0 && Date.now() < deadline) {
      await delay(20);
      alive = serversOf(cluster);
    }
  }
  const [survivor] = alive;
  if (survivor !== undefined)
    throw new Error(`Postgres on ${cluster} (pid ${survivor.pid}) cannot be stopped.`);
  for (const file of STALE_FILES) rmSync(join(cluster, file), { force: true });
}

interface Server {
  pid: number;
  isChild: boolean;
}

function serversOf(cluster: string): Server[] {
  const name = serverClusterName(cluster);
  const owner = statSync(cluster).uid;
  const processes = process.platform === "linux" ? linuxProcesses() : otherProcesses();
  return processes.flatMap(({ pid, uid, command }): Server[] => {
    if (uid !== owner) return [];
    if (command.startsWith(`postgres: ${name}: `)) return [{ pid, isChild: true }];
    const [program = ""] = command.split(" -D ");
    const isPostmaster = basename(program) === "postgres" && `${command} `.includes(` cluster_name=${name} `);
    return isPostmaster ? [{ pid, isChild: false }] : [];
  });
}

interface Process {
  pid: number;
  uid: number;
  command: string;
}

function linuxProcesses(): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid): Process[] => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trimEnd();
      return [{ pid: Number(pid), uid: statSync(`/proc/${pid}`).uid, command }];
    } catch {
      return []; // the process has just ended
    }
  });
}

function otherProcesses(): Process[] {
  const options = { encoding: "utf8", env: serverEnvironment() } as const;
  const lines = execFileSync("ps", ["-axww", "-o", "pid=,uid=,command="], options).split("\n");
  return lines.flatMap((line): Process[] => {
    const [, pid, uid, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), uid: Number(uid), command: command.trimEnd() }];
  });
}

function send(pid: number, signal: NodeJS.Signals, cluster: string): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
    throw new Error(
      `Postgres on ${cluster} (pid ${pid}) was left behind and cannot be stopped by this user.`,
      {
        cause: error,
      },
    );
  }
}
