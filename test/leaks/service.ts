/** Starts the service and counts the open handles of its processes and the files in its folders. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Test } from "tap";
import { childPids, familyMiB, residentMemoryMiB } from "../../bench/measure.js";
import { programArguments } from "../../src/common/program.js";
import { copyMigratedPostgres } from "../migrated-postgres.js";
import type { FromService, Held } from "./service-process.js";

/** A count for each resource that may leak. */
export interface Use extends Held {
  readonly serviceMiB: number;
  readonly serviceHandles: number;
  readonly serviceThreads: number;
  readonly engineMiB: number;
  /**
   * Without those of its threads, because the engine keeps three files in `/proc` open for each thread that has run a
   * statement.
   */
  readonly engineHandles: number;
  readonly engineThreads: number;
  /** Memory that its processes share, mainly its buffers, counted once. */
  readonly postgresMiB: number;
  /** The shared part of it. It fills up to the size of the buffers, 64 MiB. */
  readonly postgresSharedMiB: number;
  readonly postgresHandles: number;
  /** Child processes of the postmaster. */
  readonly postgresProcesses: number;
  /** Files and folders that belong neither to a table nor to Postgres. */
  readonly temporaryFiles: number;
  /** Entries of the folder with the sockets of Postgres. */
  readonly socketEntries: number;
}

export interface CountedService {
  readonly url: string;
  use(): Promise<Use>;
  /** Number of the engine's handles of each kind. */
  engineHandleKinds(): ReadonlyMap<string, number>;
}

/** Starts the service in `folder`, and stops it at the end of the test. `config` has everything except `data_dir`. */
export async function startCountedService(t: Test, folder: string, config: object): Promise<CountedService> {
  const temporary = join(folder, "tmp");
  const data = join(folder, "data");
  const file = join(folder, "service.yaml");
  mkdirSync(temporary);
  writeFileSync(file, JSON.stringify({ data_dir: data, ...config }));
  copyMigratedPostgres(data);
  const script = programArguments("./service-process.js", import.meta.url);
  const child = spawn(process.execPath, ["--expose-gc", ...script, file], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, NODE_OPTIONS: "", TMPDIR: temporary },
  });
  const exited = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const started = await answerOf(child);
  if (!("url" in started) || child.pid === undefined) throw new Error(`no start: ${JSON.stringify(started)}`);
  const [postmaster] = readFileSync(join(data, "postgres", "postmaster.pid"), "utf8").split("\n");
  const pids = { service: child.pid, engine: started.enginePid, postgres: Number(postmaster) };
  return {
    url: started.url,
    async use() {
      child.send("held");
      const response = await answerOf(child);
      if (!("held" in response)) throw new Error(JSON.stringify(response));
      const postgres = [pids.postgres, ...childPids(pids.postgres)];
      return {
        ...response.held,
        serviceMiB: residentMemoryMiB(pids.service),
        serviceHandles: handles(pids.service).length,
        serviceThreads: threads(pids.service),
        engineMiB: residentMemoryMiB(pids.engine),
        engineHandles: handles(pids.engine).filter((link) => !OF_THREAD.test(link)).length,
        engineThreads: threads(pids.engine),
        postgresMiB: familyMiB(pids.postgres),
        postgresSharedMiB: familyMiB(pids.postgres, "Pss_Shmem"),
        postgresHandles: postgres.flatMap(handles).length,
        postgresProcesses: postgres.length - 1,
        temporaryFiles: filesOf(data).filter(isTemporary).length + filesOf(temporary).length,
        socketEntries: readdirSync(join(data, "postgres")).length,
      };
    },
    engineHandleKinds: () => kindsOf(handles(pids.engine)),
  };
}

async function answerOf(child: ChildProcess): Promise<FromService> {
  const responded = new AbortController();
  const { signal } = responded;
  try {
    return await Promise.race([
      once(child, "message", { signal }).then(([message]) => message as FromService),
      once(child, "exit", { signal }).then(() => ({ problem: "the service has ended" })),
    ]);
  } finally {
    responded.abort();
  }
}

const OF_THREAD = /^\/proc\/\d+\/task\/\d+\/(schedstat|stat|io)$/;

/** Returns the target of each handle. A handle that is closed meanwhile has none. */
function handles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(join(folder, name))];
      } catch {
        return [];
      }
    });
  } catch {
    return []; // The process is a backend of Postgres that has just ended.
  }
}

function threads(pid: number): number {
  const [, count] = /^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(count);
}

/** `socket:[123]` and `/data/…/part/data.bin` have the kinds `socket:[]` and `data.bin`. */
function kindsOf(links: readonly string[]): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>();
  for (const link of links) {
    const kind = link.replace(/\d+/g, "").split(sep).at(-1) ?? link;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

/** Lists the paths below a folder. Files may appear and disappear meanwhile. */
function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return filesOf(folder);
  }
}

/**
 * The files of a table are its parts and its definition. Those that the engine has not finished have `tmp` before their
 * names.
 */
function isTemporary(path: string): boolean {
  if (path.split(sep).some((name) => /^(delete_)?tmp_|^pgsql_tmp/.test(name))) return true;
  const isOfStore = ["postgres", join("clickhouse", "engine")].some((folder) =>
    path.startsWith(folder + sep),
  );
  return !isOfStore;
}
