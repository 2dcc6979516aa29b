import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { PoolClient } from "pg";
import { packageVersion } from "../common/project.js";
import { readPostgresMigrations } from "../postgres/migrate.js";
import { runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import type { OpenedStores } from "../stores/open-stores.js";
import { syncFolder } from "../stores/unfinished-restore.js";
import { backUpDatabases, withEngine } from "./clickhouse-databases.js";
import { syncFiles } from "./files.js";
import { FORMAT, writeManifest } from "./manifest.js";
import { copyTables } from "./postgres-tables.js";

/** The backup was not taken. The message is one sentence for the operator. */
export class BackupRefusedError extends Error {
  override readonly name = "BackupRefusedError";
}

export interface TakeBackup {
  readonly stores: OpenedStores;
  readonly dataDir: string;
  /** Absolute path of a folder that must not exist yet, in a folder that exists. */
  readonly target: string;
  readonly signal: AbortSignal;
}

/** Result of a backup, for messages. */
export interface BackupSummary {
  readonly databases: number;
  readonly files: number;
  readonly bytes: number;
  /** How long runs could not publish, in milliseconds. */
  readonly pausedMs: number;
}

/**
 * Writes a backup of both embedded stores into a folder, while the service runs. Postgres's snapshot is taken, and
 * ClickHouse is copied, while no run changes both: the backup is of that moment. The folder has a temporary name until
 * everything is on disk.
 */
export async function takeBackup({ stores, dataDir, target, signal }: TakeBackup): Promise<BackupSummary> {
  const engine = stores.embeddedClickHouse;
  if (engine === undefined || !stores.ownsPostgres)
    throw new BackupRefusedError("Only embedded stores are backed up by chargehouse.");
  refuseTarget(target, dataDir);
  const partial = `${target}.partial-${randomBytes(4).toString("hex")}`;
  await mkdir(partial, { mode: 0o700 });
  try {
    let pausedMs = 0;
    const stop = { signal, beforeCommit: () => undefined };
    const stored = await withTransaction(
      stores.postgres,
      async (on) => {
        const begin = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        for (const query of [
          begin,
          "SET LOCAL statement_timeout = 0",
          "SET LOCAL idle_in_transaction_session_timeout = 0",
        ])
          await runStatement(on, { query, params: [] });
        const { takenAt, clickhouse } = await stores.backupLock.exclusive(async () => {
          const since = performance.now();
          const takenAt = await takeSnapshot(on);
          const clickhouse = await withEngine(engine, (client) =>
            backUpDatabases(client, join(partial, "clickhouse"), signal),
          );
          pausedMs = performance.now() - since;
          return { takenAt, clickhouse };
        }, signal);
        const revisions = await readPostgresMigrations(on);
        const postgres = { revisions, ...(await copyTables(on, join(partial, "postgres"))) };
        return { taken_at: takenAt, postgres, clickhouse };
      },
      stop,
    );
    const files = await syncFiles(partial, signal);
    await writeManifest(partial, { format: FORMAT, chargehouse: packageVersion(), ...stored, files });
    refuseTarget(target, dataDir);
    signal.throwIfAborted();
    await rename(partial, target);
    await syncFolder(dirname(target));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { databases: stored.clickhouse.length, files: files.length, bytes, pausedMs };
  } catch (error) {
    await rm(partial, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

/** Refuses a folder that exists, and one whose parent is missing, because its disk may not be mounted. */
function refuseTarget(target: string, dataDir: string): void {
  const path = relative(resolve(dataDir), target);
  if (path === "" || (path !== ".." && !path.startsWith(`..${sep}`)))
    throw new BackupRefusedError(
      `${target} is in the data directory: choose a folder outside of it, on another disk if you can.`,
    );
  if (existsSync(target))
    throw new BackupRefusedError(`${target} exists already: choose a name that is free.`);
  if (!existsSync(dirname(target)))
    throw new BackupRefusedError(`${dirname(target)} does not exist: make it, or mount it, first.`);
}

/** Takes the snapshot: the first read of the transaction fixes the moment of all its reads. */
async function takeSnapshot(on: PoolClient): Promise<string> {
  const { rows } = await runStatement<{ taken_at: Date }>(on, {
    query: "SELECT clock_timestamp() AS taken_at",
    params: [],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("Postgres does not know the time");
  return row.taken_at.toISOString();
}
