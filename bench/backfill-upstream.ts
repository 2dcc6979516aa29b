/**
 * The upstream of the backfill: the Confluent Cloud simulator in a process of its own, and a configuration with one
 * tenant.
 */
import { spawn } from "node:child_process";
import { once as happens } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Config } from "../src/config/config.js";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/reader/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { program, untilReady } from "./service.js";

export interface BackfillUpstream {
  readonly config: Config;
  /** The tenant's section of the configuration. */
  readonly tenant: Readonly<Record<string, unknown>>;
  readonly tenantName: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

export interface BackfillSize {
  /** Lines of the bill per day. */
  readonly lines: number;
  readonly identities: number;
  /** Days with a bill. */
  readonly days: number;
}

/** `folder` is for the configuration and the stores. */
export async function startUpstream(folder: string, size: BackfillSize): Promise<BackfillUpstream> {
  const file = join(folder, "simulated.yaml");
  const options = {
    size: "huge",
    lines: size.lines,
    identities: size.identities,
    days: size.days + 1,
    port: 0,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [program, "simulate", ...flags, "--write-config", file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = happens(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  try {
    await untilReady(async () => {
      if (child.exitCode !== null) throw new Error(`the simulator ended with ${child.exitCode}`);
      return existsSync(file) && readFileSync(file, "utf8").includes("\n");
    }, 60_000);
    const yaml = readFileSync(file, "utf8");
    const { cloud } = (parse(yaml) as { tenants: { cloud: Readonly<Record<string, unknown>> } }).tenants;
    return { ...read(cloud, folder), tenant: cloud, pid: child.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function read(tenant: unknown, folder: string): Pick<BackfillUpstream, "config" | "tenantName"> {
  const yaml = JSON.stringify({ data_dir: join(folder, "data"), tenants: { cloud: tenant } });
  const loaded = loadConfig(yaml, { file: "backfill.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return { config: loaded.config, tenantName: "cloud" };
}
