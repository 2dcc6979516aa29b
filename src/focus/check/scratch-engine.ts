/**
 * An embedded engine for the time of a command: no tenants, no migrations, no port. Its folder is made for it and removed with it, so that
 * nothing of a checked file stays behind.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { openClickHouseClient } from "../../store/clickhouse/client.js";
import { createEmbeddedClickHouse } from "../../store/clickhouse/embedded/supervisor.js";

/** Bounds what a file can do that unpacks to far more than its size: the statement fails, and the command says so. */
export const ENGINE_MEMORY_GIB = 1;

export interface ScratchEngine {
  readonly client: ClickHouseClient;
  /** For links to the files that are read. */
  readonly folder: string;
  close(): Promise<void>;
}

export async function openScratchEngine(logger: Logger): Promise<ScratchEngine> {
  const folder = await mkdtemp(join(tmpdir(), "chargehouse-focus-"));
  const engine = createEmbeddedClickHouse({
    dataDir: folder,
    maxMemoryBytes: ENGINE_MEMORY_GIB * 2 ** 30,
    logger,
  });
  let client: ClickHouseClient | undefined;
  const close = async () => {
    await client?.close();
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    client = openClickHouseClient({
      ...(await engine.endpoint()),
      database: "default",
      applicationName: "chargehouse focus-check",
    });
    return { client, folder, close };
  } catch (error) {
    await close();
    throw error;
  }
}
