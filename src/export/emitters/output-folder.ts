/**
 * The folder that an emitter writes to. A file is replaced atomically: it is written under another name, synced to
 * disk, and renamed. Readers see the complete old or new file, and so does the disk after a power failure.
 *
 * Nothing outside the folder is changed: names are checked, and links and folders are never replaced.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, realpath, rename, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

export interface OutputFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Prefix of unfinished files of this tenant. */
  readonly unfinished: string;
}

export interface NewFile {
  readonly name: string;
  readonly content: AsyncIterable<Buffer>;
  /** Called after all bytes are written and before the file is replaced. If it throws, the old file stays. */
  readonly beforeReplacing: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Bills are readable only by the group, which the operator controls. A stricter umask applies. */
const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;

/** Creates the folder if it is missing, and removes unfinished files of killed runs of the tenant. */
export async function openOutputFolder(path: string, tenantName: string): Promise<OutputFolder> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  const tenant = createHash("sha256").update(tenantName).digest("hex").slice(0, 16);
  const folder = { path: await realpath(resolve(path)), unfinished: `.chargehouse-${tenant}-` };
  for (const name of await readdir(folder.path)) {
    if (name.startsWith(folder.unfinished)) await unlink(join(folder.path, name));
  }
  return folder;
}

/** Returns the path of the file and its size. */
export async function replaceFile(
  folder: OutputFolder,
  { name, content, beforeReplacing, signal }: NewFile,
): Promise<{ file: string; bytes: number }> {
  const file = pathOf(folder, name);
  const unfinished = join(folder.path, `${folder.unfinished}${randomBytes(8).toString("hex")}`);
  try {
    const bytes = await writeToDisk(unfinished, content, signal);
    if ((await kindOf(file)) === "other") throw new Error(`${file} is not a plain file: it is left as it is`);
    await beforeReplacing();
    await rename(unfinished, file);
    await syncFolder(folder);
    return { file, bytes };
  } catch (error) {
    await unlink(unfinished).catch(() => undefined);
    throw error;
  }
}

/** Removes a file of this folder. Ignores missing files and files in other folders. */
export async function removeFile(folder: OutputFolder, file: string): Promise<void> {
  if (dirname(file) !== folder.path || (await kindOf(file)) !== "file") return;
  await unlink(file);
  await syncFolder(folder);
}

async function writeToDisk(
  path: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  // `wx` fails if the name exists, so links are never followed.
  const handle = await open(path, "wx", FILE_MODE);
  try {
    await writeFile(handle, content, { signal });
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

function pathOf(folder: OutputFolder, name: string): string {
  const isPlain = basename(name) === name && name !== "" && !name.startsWith(".") && !/[/\\]/.test(name);
  if (!isPlain) throw new RangeError(`not a name of a file: ${JSON.stringify(name)}`);
  return join(folder.path, name);
}

export async function isPlainFile(path: string): Promise<boolean> {
  return (await kindOf(path)) === "file";
}

async function kindOf(path: string): Promise<"file" | "other" | "nothing"> {
  try {
    return (await lstat(path)).isFile() ? "file" : "other";
  } catch (error) {
    if (isMissing(error)) return "nothing";
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Syncs the folder, because a rename is on disk only after that. */
async function syncFolder({ path }: OutputFolder): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
