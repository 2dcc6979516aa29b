/**
 * Marks a data directory while a backup is being restored into it, so that half a restore is never mistaken for the
 * data.
 */
import { existsSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MARK = "restore.unfinished";

/** Fails if another restore is in progress, or was killed. */
export async function beginRestore(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, MARK), "", { flag: "wx", mode: 0o600, flush: true });
  await syncFolder(dataDir);
}

export async function endRestore(dataDir: string): Promise<void> {
  await rm(join(dataDir, MARK));
  await syncFolder(dataDir);
}

export function refuseUnfinishedRestore(dataDir: string): void {
  if (existsSync(join(dataDir, MARK)))
    throw new Error(
      `The data directory ${dataDir} holds a restore that was cut off: delete what is in it and restore again.`,
    );
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
