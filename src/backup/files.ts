/** The files of a backup: lists them, and compares them with the manifest. */
import { createHash } from "node:crypto";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, manifestFiles, UnusableBackupError } from "./manifest.js";

export type BackupFile = Manifest["files"][number];

const PIECE_BYTES = 1024 * 1024;

/** Syncs every file in the folder to disk. Returns the files in order, without those of the manifest. */
export async function syncFiles(folder: string, signal: AbortSignal): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  for (const path of await listFiles(folder))
    files.push(await readOne(folder, path, signal, (handle) => handle.sync()));
  return files;
}

/** Throws `UnusableBackupError` unless the folder has exactly the files that the manifest lists. */
export async function checkDigests(folder: string, { files }: Manifest, signal: AbortSignal): Promise<void> {
  const damaged = (what: string) => new UnusableBackupError(`${folder} is damaged: ${what}.`);
  const listed = new Map(files.map((file) => [file.path, file]));
  for (const path of await listFiles(folder)) {
    const expected = listed.get(path);
    if (expected === undefined) throw damaged(`its manifest does not list ${path}`);
    const found = await readOne(folder, path, signal);
    if (found.bytes !== expected.bytes)
      throw damaged(`${path} has ${found.bytes} bytes instead of ${expected.bytes}`);
    if (found.sha256 !== expected.sha256) throw damaged(`the content of ${path} has changed`);
    listed.delete(path);
  }
  for (const path of listed.keys()) throw damaged(`${path} is missing`);
}

/**
 * Refuses links and other special files. A backup contains none, and following a link would read files outside of the
 * backup.
 */
async function listFiles(folder: string): Promise<string[]> {
  const list = async (within: string): Promise<string[]> => {
    const entries = await readdir(join(folder, within), { withFileTypes: true });
    const paths: string[] = [];
    for (const entry of entries) {
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) paths.push(...(await list(path)));
      else if (entry.isFile()) paths.push(path);
      else throw new UnusableBackupError(`${folder} is damaged: ${path} is neither a file nor a folder.`);
    }
    return paths;
  };
  return (await list("")).filter((path) => !manifestFiles.includes(path)).sort();
}

async function readOne(
  folder: string,
  path: string,
  signal: AbortSignal,
  finish?: (handle: FileHandle) => Promise<void>,
): Promise<BackupFile> {
  const handle = await open(join(folder, path), "r");
  try {
    const hash = createHash("sha256");
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let bytes = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(piece, 0, piece.length);
      if (bytesRead === 0) break;
      hash.update(piece.subarray(0, bytesRead));
      bytes += bytesRead;
    }
    await finish?.(handle);
    return { path, bytes, sha256: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}
