/** Times, medians and memory: how a figure comes about. */
import { readFileSync } from "node:fs";

/** One figure of the report. */
export interface Figure {
  readonly benchmark: string;
  readonly name: string;
  readonly value: number;
  readonly unit:
    | "ms"
    | "s"
    | "rows/s"
    | "MiB"
    | "MiB/s"
    | "bytes/row"
    | "ratio"
    | "rows"
    | "partitions"
    | "tables"
    | "parts"
    | "KiB"
    | "runs";
  /** What it should be; a figure that misses it is marked, never failed. */
  readonly target?: { readonly at: "least" | "most"; readonly value: number };
  readonly note?: string;
  /** Values that belong to it, for machines; people read them in the note. */
  readonly details?: Readonly<Record<string, number>>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Milliseconds of each of `times` runs, after one that does not count: it fills the caches. */
async function timed(times: number, run: () => Promise<unknown>): Promise<number[]> {
  await run();
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn++) taken.push(await once(run));
  return taken;
}

export async function medianMs(times: number, run: () => Promise<unknown>): Promise<number> {
  return median(await timed(times, run));
}

/** Two ways of the same thing in turns, so that what else the machine does hits both alike. */
export async function medianPairMs(
  times: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<[number, number]> {
  await one();
  await other();
  const taken: [number[], number[]] = [[], []];
  for (let turn = 0; turn < times; turn++) {
    taken[0].push(await once(one));
    taken[1].push(await once(other));
  }
  return [median(taken[0]), median(taken[1])];
}

export async function once(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

const SAMPLE_MS = 20;

export interface ProcessWatch {
  /** Resident set when watching began, and at its highest since, in MiB. */
  readonly idle: number;
  peak(): number;
  /** Seconds of processor time used since watching began: hardly changes with what else the machine does. */
  cpuSeconds(): number;
  stop(): void;
}

/** Watches a process. Linux only; NaN where there is no /proc. */
export function watchProcess(pid: number | undefined): ProcessWatch {
  const idle = residentMiB(pid);
  const before = processorSeconds(pid);
  let peak = idle;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid));
  }, SAMPLE_MS);
  return {
    idle,
    peak: () => Math.max(peak, residentMiB(pid)),
    cpuSeconds: () => processorSeconds(pid) - before,
    stop: () => clearInterval(timer),
  };
}

/** Without files that are mapped into memory, as the engine maps a bill that it reads: their pages are the system's to take back. */
export function residentMiB(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(([, size]) => Number(size));
    return kib.length === 0 ? Number.NaN : kib.reduce((all, size) => all + size, 0) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** A server's memory is looked at less often: to add up that of all its processes takes 10 ms, which would be counted as work. */
const SERVER_SAMPLE_MS = 2_000;

/** Watches the processes of the server that a process belongs to, memory that they share counted once. Peak in MiB; Linux only. */
export function watchServer(anyPid: number | undefined): Pick<ProcessWatch, "peak" | "stop"> {
  const server = anyPid === undefined ? undefined : parentOf(anyPid);
  let peak = familyMiB(server);
  const timer = setInterval(() => {
    peak = Math.max(peak, familyMiB(server));
  }, SERVER_SAMPLE_MS);
  return { peak: () => Math.max(peak, familyMiB(server)), stop: () => clearInterval(timer) };
}

/** Of a process and its children, memory that they share counted once; or the memory that they share alone. NaN where it is not there. */
export function familyMiB(server: number | undefined, kind: "Pss" | "Pss_Shmem" = "Pss"): number {
  if (server === undefined) return Number.NaN;
  try {
    return [server, ...childPids(server)].reduce((sum, pid) => sum + proportionalMiB(pid, kind), 0);
  } catch {
    return Number.NaN;
  }
}

export function childPids(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** 0 for a process that has just ended. */
function proportionalMiB(pid: number, kind: "Pss" | "Pss_Shmem"): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(new RegExp(`^${kind}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]) / 1024;
  } catch {
    return 0;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statFields(pid)[1]);
  } catch {
    return undefined;
  }
}

/** Fields of a process's state, from the third on: a name before them may hold anything. */
function statFields(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
}

/** The kernel counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

function processorSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  try {
    const fields = statFields(pid);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
