/**
 * A cluster of Postgres that has every migration. A run of all tests makes one and names its folder in the environment; each test starts its own server on
 * a copy, which takes a tenth of what it takes to make another. Without it, as when a file is run alone, the stores make theirs.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { migrationFolders } from "../src/store/open-stores.js";
import { openPostgres } from "../src/store/postgres/client.js";
import { clusterFiles } from "../src/store/postgres/cluster-files.js";
import { startEmbeddedPostgres } from "../src/store/postgres/embedded.js";
import { migratePostgres } from "../src/store/postgres/migrate.js";

export const MIGRATED_POSTGRES = "CHARGEHOUSE_TEST_POSTGRES";

/** Makes it in a folder that is there, and stops its server. */
export async function makeMigratedPostgres(folder: string): Promise<void> {
  const logger = pino({ level: "warn" });
  const server = await startEmbeddedPostgres({ dataDir: folder, logger });
  const pool = openPostgres(server.connection, { logger });
  try {
    await migratePostgres(pool, { dir: migrationFolders.postgres, logger });
  } finally {
    await pool.end();
    await server.stop();
  }
}

/** Puts a copy into a data directory that has none yet. */
export function copyMigratedPostgres(dataDir: string, folder = process.env[MIGRATED_POSTGRES]): void {
  if (folder === undefined) return;
  mkdirSync(dataDir, { mode: 0o700, recursive: true });
  const { cluster, password } = clusterFiles(folder);
  execFileSync("cp", ["-a", cluster, password, join(dataDir, "/")]);
}
