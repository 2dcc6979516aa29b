/** What the figures were measured on. */
import { cpus, loadavg, totalmem } from "node:os";
import type { ClickHouseClient } from "@clickhouse/client";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly node: string;
  readonly engine: string;
  /** Of the last minute, when the benchmarks began: above the number of cores, times mean little. */
  readonly load: number;
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
  };
}
