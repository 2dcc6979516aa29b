/** Creates folders and servers for one test, and removes them when it ends. */
import { cpSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import pino from "pino";
import type { Test } from "tap";
import { installedNativeDir } from "../../src/embedded-postgres/binaries.js";
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from "../../src/embedded-postgres/start.js";
import { openPostgres } from "../../src/postgres/client.js";

export const logger = pino({ level: "silent" });

/** The folder has mode 0700. If we are root, the server's user cannot enter it. */
export function postgresFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function startTestPostgres(
  t: Test,
  options: Partial<EmbeddedPostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const dataDir = options.dataDir ?? postgresFolder(t);
  const postgres = await startEmbeddedPostgres({ dataDir, logger, ...options });
  t.teardown(() => postgres.stop());
  return postgres;
}

export async function temporaryPool(t: Test): Promise<pg.Pool> {
  const { connection } = await startTestPostgres(t);
  const pool = openPostgres(connection, { logger });
  t.teardown(() => pool.end());
  return pool;
}

let databases = 0;

/** Creates a database in a running server. */
export async function temporaryDatabase(t: Test, server: pg.Pool): Promise<pg.Pool> {
  const database = `temporary_${++databases}`;
  await server.query(`CREATE DATABASE ${database}`);
  const { host = "", port = 5432, user = "", password = "" } = server.options;
  const pool = openPostgres({ host, port, user, password, database }, { logger });
  t.teardown(() => pool.end());
  return pool;
}

/**
 * Copies the Postgres programs below `folder` as npm installs them with `--ignore-scripts`, without the library links.
 */
export function nativeWithoutLinks(folder: string): string {
  const native = join(folder, "native");
  const links = new Set<string>();
  cpSync(installedNativeDir(), native, {
    recursive: true,
    filter: (from) => {
      if (!/\.so(\.\d+)?$/.test(from) || !lstatSync(from).isSymbolicLink()) return true;
      links.add(from);
      return false;
    },
  });
  if (links.size === 0)
    throw new Error("the installation has no library links, so the test would show nothing");
  return native;
}
