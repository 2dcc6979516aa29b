/**
 * A Postgres cluster with every migration. A run of all tests makes one and sets its folder in the environment. Each
 * test starts its own server on a copy, which takes a tenth of the time of a new one. Without it, such as in a run of a
 * single file, the stores run the migrations.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { clusterFiles } from "../src/embedded-postgres/cluster-files.js";
import { startEmbeddedPostgres } from "../src/embedded-postgres/start.js";
import { openPostgres } from "../src/postgres/client.js";
import { migratePostgres } from "../src/postgres/migrate.js";
import { migrationFolders } from "../src/stores/open-stores.js";

export const MIGRATED_POSTGRES = "CHARGEHOUSE_TEST_POSTGRES";

/** Makes the cluster in an existing folder and stops its server. */
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

/** Copies the cluster into a data directory without one. */
export function copyMigratedPostgres(dataDir: string, folder = process.env[MIGRATED_POSTGRES]): void {
  if (folder === undefined) return;
  mkdirSync(dataDir, { mode: 0o700, recursive: true });
  const { cluster, password } = clusterFiles(folder);
  execFileSync("cp", ["-a", cluster, password, join(dataDir, "/")]);
}
