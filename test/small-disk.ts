/** Small disks in memory that a test can fill. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import type { Test } from "tap";
import { clusterFiles } from "../src/embedded-postgres/cluster-files.js";
import { copyMigratedPostgres, MIGRATED_POSTGRES, makeMigratedPostgres } from "./migrated-postgres.js";
import { temporaryFolder } from "./stores.js";

/** Options of a test that mounts a disk. In CI it is never skipped. */
export const mounts = {
  skip: process.getuid?.() !== 0 && process.env.CI === undefined && "needs root, to mount a small disk",
};

export interface SmallDisk {
  /** Fills the disk to the last byte. */
  fill(): void;
  /** Frees the space that `fill` has taken. */
  empty(): void;
}

/** Mounts a new disk on the folder, which is created. */
export function smallDisk(t: Test, folder: string, mib: number): SmallDisk {
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m,mode=0711`, "tmpfs", folder]);
  t.teardown(() => execFileSync("umount", ["--lazy", folder]));
  const ballast = join(folder, "ballast");
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      if (bavail > 0) execFileSync("fallocate", ["--length", String(bavail * bsize), ballast]);
    },
    empty: () => rmSync(ballast, { force: true }),
  };
}

/** Makes a data directory with only its Postgres on a small disk. */
export async function postgresOnSmallDisk(t: Test, dataDir: string, mib: number): Promise<SmallDisk> {
  mkdirSync(dataDir, { mode: 0o700 });
  const disk = smallDisk(t, clusterFiles(dataDir).cluster, mib);
  const made = process.env[MIGRATED_POSTGRES] ?? temporaryFolder(t);
  if (process.env[MIGRATED_POSTGRES] === undefined) await makeMigratedPostgres(made);
  copyMigratedPostgres(dataDir, made);
  return disk;
}

const MIB = 1024 * 1024;
/** Size of each segment of the log. */
const SEGMENT = 16 * MIB;
/** More than the headers of a message and of its pages take. */
const HEADS = 64 * 1024;

/**
 * Fills Postgres' log so that no existing segment has space for more, and then adds a little, which waits in memory. On
 * a full disk, the next commit ends the server, because Postgres cannot continue without its log.
 */
export async function useUpLog(pool: pg.Pool): Promise<void> {
  const write = (bytes: number) =>
    pool.query("SELECT pg_logical_emit_message(false, 'test', repeat('x', $1))", [bytes]);
  for (;;) {
    const { rows } = await pool.query<{ used: number; segments: number }>(`
      SELECT (pg_walfile_name_offset(here)).file_offset AS used, (
        SELECT count(*)::int FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name >= pg_walfile_name(here)
      ) AS segments FROM pg_current_wal_insert_lsn() AS here`);
    const { used, segments } = rows[0] ?? { used: 0, segments: 0 };
    const room = segments * SEGMENT - used;
    if (room <= 2 * HEADS) {
      await write(room + HEADS);
      return;
    }
    await write(Math.min(room - HEADS, MIB));
  }
}
