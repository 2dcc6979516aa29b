/** A mark in the data directory while it is being restored from a backup: half a restore must not be taken for the data. */
import { existsSync } from "node:fs";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MARK = "restore.unfinished";

/** Fails where another restore is under way, or was killed. */
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
