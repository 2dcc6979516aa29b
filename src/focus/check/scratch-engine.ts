/**
 * An embedded engine for the duration of a command, without tenants, migrations or a port. Its temporary folder is
 * removed with it, so that no data of a checked file remains.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { openClickHouseClient } from "../../clickhouse/client.js";
import { createEmbeddedClickHouse } from "../../embedded-clickhouse/index.js";

/** Memory limit, against files that decompress to far more than their size. Above it, the command reports an error. */
export const ENGINE_MEMORY_GIB = 1;

export interface ScratchEngine {
  readonly client: ClickHouseClient;
  /** Folder for links to the files to read. */
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
