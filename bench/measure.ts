/** Measures times, medians and memory. */
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
  /** The target. A figure that misses it is marked but never fails. */
  readonly target?: { readonly at: "least" | "most"; readonly value: number };
  readonly note?: string;
  /** Further values for machines. The note has them for people. */
  readonly details?: Readonly<Record<string, number>>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the milliseconds of each of `times` runs, after a first one that fills the caches and does not count. */
async function timed(times: number, run: () => Promise<unknown>): Promise<number[]> {
  await run();
  const durations: number[] = [];
  for (let turn = 0; turn < times; turn++) durations.push(await once(run));
  return durations;
}

export async function medianMs(times: number, run: () => Promise<unknown>): Promise<number> {
  return median(await timed(times, run));
}

/** Measures two alternatives in turns, so that other load affects both alike. */
export async function medianPairMs(
  times: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<[number, number]> {
  await one();
  await other();
  const durations: [number[], number[]] = [[], []];
  for (let turn = 0; turn < times; turn++) {
    durations[0].push(await once(one));
    durations[1].push(await once(other));
  }
  return [median(durations[0]), median(durations[1])];
}

export async function once(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

const SAMPLE_MS = 20;

export interface ProcessWatch {
  /** Resident set at the start and its peak since, in MiB. */
  readonly idle: number;
  peak(): number;
  /** Seconds of processor time since the start. Other load hardly changes it. */
  cpuSeconds(): number;
  stop(): void;
}

/** Measures a process. Linux only; NaN without /proc. */
export function watchProcess(pid: number | undefined): ProcessWatch {
  const idle = residentMemoryMiB(pid);
  const before = processorSeconds(pid);
  let peak = idle;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMemoryMiB(pid));
  }, SAMPLE_MS);
  return {
    idle,
    peak: () => Math.max(peak, residentMemoryMiB(pid)),
    cpuSeconds: () => processorSeconds(pid) - before,
    stop: () => clearInterval(timer),
  };
}

/**
 * Excludes files that are mapped into memory, such as a bill that the engine reads: the system can take their pages
 * back.
 */
export function residentMemoryMiB(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(([, size]) => Number(size));
    return kib.length === 0 ? Number.NaN : kib.reduce((all, size) => all + size, 0) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** A server's memory is sampled less often: adding up all its processes takes 10 ms, which would count as work. */
const SERVER_SAMPLE_MS = 2_000;

/**
 * Measures all processes of the server that a process belongs to, counting shared memory once. Peak in MiB; Linux only.
 */
export function watchServer(anyPid: number | undefined): Pick<ProcessWatch, "peak" | "stop"> {
  const server = anyPid === undefined ? undefined : parentOf(anyPid);
  let peak = familyMiB(server);
  const timer = setInterval(() => {
    peak = Math.max(peak, familyMiB(server));
  }, SERVER_SAMPLE_MS);
  return { peak: () => Math.max(peak, familyMiB(server)), stop: () => clearInterval(timer) };
}

/**
 * Returns the memory of a process and its children, counting shared memory once, or only the shared memory. NaN if the
 * process does not exist.
 */
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

/** Returns seconds of processor time of a process and its children, including children that have ended. */
export function familyProcessorSeconds(server: number | undefined): number {
  if (server === undefined) return Number.NaN;
  const [user, system] = statFields(server).slice(13, 15).map(Number);
  const ofEnded = ((user ?? 0) + (system ?? 0)) / TICKS_PER_SECOND;
  return childPids(server).reduce(
    (sum, pid) => sum + processorSeconds(pid),
    processorSeconds(server) + ofEnded,
  );
}

export function parentOf(pid: number): number | undefined {
  try {
    return Number(statFields(pid)[1]);
  } catch {
    return undefined;
  }
}

/** Returns the fields of a process's state from the third on. The name before them may contain anything. */
function statFields(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
}

/** The kernel counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

export function processorSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  try {
    const fields = statFields(pid);
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
