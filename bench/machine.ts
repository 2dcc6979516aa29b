/** Describes the machine of a measurement. */
import { cpus, loadavg, totalmem } from "node:os";
import type { ClickHouseClient } from "@clickhouse/client";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly node: string;
  readonly engine: string;
  /** Load of the last minute at the start of the benchmarks. Above the number of cores, times mean little. */
  readonly load: number;
  /**
   * Speed of one core in a fixed loop just before the benchmarks. The same machine has run at a quarter of its speed
   * for hours.
   */
  readonly additions_per_second?: number;
}

const ADDITIONS = 200_000_000;

/** The best of three, to reduce the effect of other processes. */
function additionsPerSecond(): number {
  const durations = [1, 2, 3].map(() => {
    const started = performance.now();
    let sum = 0;
    for (let each = 0; each < ADDITIONS; each++) sum += each % 7;
    if (sum === 0) throw new Error("nothing was added");
    return performance.now() - started;
  });
  return Math.round(ADDITIONS / (Math.min(...durations) / 1000));
}

export async function describeMachine(client: ClickHouseClient): Promise<Machine> {
  const version = await client.query({ query: "SELECT version() AS version", format: "JSONEachRow" });
  const [row] = await version.json<{ version: string }>();
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    engine: row?.version ?? "unknown",
    load: loadavg()[0] ?? Number.NaN,
    additions_per_second: additionsPerSecond(),
  };
}
