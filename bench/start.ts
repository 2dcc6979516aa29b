/**
 * Benchmark of the time from the command line to the first response: the first start, which makes the stores, and a
 * start with existing stores.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../test/free-port.js";
import { type Figure, median } from "./measure.js";
import { program, spawnService, untilReady } from "./service.js";
import { tenantYaml } from "./stores.js";

export async function benchStart(repeat: number): Promise<Figure[]> {
  const first: Start[] = [];
  const again: Start[] = [];
  for (let turn = 0; turn < repeat; turn++) {
    const folder = mkdtempSync(join(tmpdir(), "chargehouse-bench-start-"));
    try {
      first.push(await startOnce(folder));
      again.push(await startOnce(folder));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const figures = (name: string, starts: readonly Start[]): Figure[] => [
    {
      benchmark: "start",
      name: `${name}: to /health`,
      value: median(starts.map((each) => each.health)),
      unit: "ms",
    },
    {
      benchmark: "start",
      name: `${name}: to ready`,
      value: median(starts.map((each) => each.ready)),
      unit: "ms",
    },
  ];
  return [...figures("first start", first), ...figures("next start", again)];
}

/** Milliseconds since the process was spawned. */
interface Start {
  readonly health: number;
  readonly ready: number;
}

async function startOnce(folder: string): Promise<Start> {
  const port = await freePort();
  const file = join(folder, "start.yaml");
  mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(
    file,
    `data_dir: ${JSON.stringify(join(folder, "data"))}\napi: { port: ${port} }\nlogging: { level: warn }\ntenants:${tenantYaml("acme", "embedded:acme")}\n`,
  );
  const started = performance.now();
  const service = await spawnService([program, "serve", "--config", file, "--mode", "api"], port);
  try {
    const health = performance.now() - started;
    await untilReady(async () => {
      const response = (await (await fetch(`${service.url}/api/v1/readiness`)).json()) as { status: string };
      return response.status !== "initializing";
    }, 60_000);
    return { health, ready: performance.now() - started };
  } finally {
    await service.stop();
  }
}
