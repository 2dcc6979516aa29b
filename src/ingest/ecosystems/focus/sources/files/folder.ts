/**
 * A file source with bills in a folder of this machine.
 *
 * Users who can write to the folder must not be able to make the service read files elsewhere. So links to folders are
 * not followed, and links to files only within the folder. A file with two names counts once; otherwise it would be
 * charged twice.
 */
import { type BigIntStats, constants } from "node:fs";
import { lstat, open, opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import picomatch from "picomatch";
import { FileChangedError } from "../delivery.js";
import { compareNames, isLeftover, isWorthNaming, nameProblem } from "../file-names.js";
import { counted } from "./counted.js";
import type { FileListing, FileSource, StoredFile, Waiting } from "./file-source.js";

export interface FolderOptions {
  readonly path: string;
  /** Names below `path` that are taken. Undefined for all. */
  readonly glob: string | undefined;
  readonly maxFiles: number;
}

const DEEPEST = 32;
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
};

interface Found extends StoredFile {
  /** Path of the bytes; for a link, its target. */
  readonly path: string;
  readonly link: boolean;
}

export function folderSource(options: FolderOptions): FileSource {
  const paths = new WeakMap<StoredFile, string>();
  return {
    async list(signal) {
      const { files, skipped, leftovers } = await listFolder(options, signal);
      for (const file of files) paths.set(file, file.path);
      return { files, skipped, leftovers } satisfies FileListing;
    },
    async open(file, signal) {
      const path = paths.get(file);
      if (path === undefined) throw new FileChangedError(file.name);
      return await openFile(path, file, signal);
    },
    close: async () => {},
  };
}

async function listFolder({ path, glob, maxFiles }: FolderOptions, signal: AbortSignal) {
  const root = await rootOf(path);
  const wanted = glob === undefined ? () => true : picomatch(glob);
  const files: Found[] = [];
  const skipped: Waiting[] = [];
  const leftovers: string[] = [];
  let fileCount = 0;

  async function walk(folder: string, below: string, depth: number): Promise<void> {
    if (depth > DEEPEST) throw new Error(`${path}: more than ${DEEPEST} folders lie in one another`);
    const entries = await opendir(folder).catch((error: unknown) => fail(folder, error));
    for await (const entry of entries) {
      signal.throwIfAborted();
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (isLeftover(entry.name)) {
        leftovers.push(entry.isDirectory() ? `${name}/` : name);
        continue;
      }
      const full = join(folder, entry.name);
      if (entry.isDirectory()) {
        await walk(full, name, depth + 1);
        continue;
      }
      fileCount += 1;
      if (fileCount > maxFiles)
        throw new Error(`${path}: there are more than ${maxFiles} files (limits.max_files)`);
      if (!wanted(name)) continue;
      const found = entry.isSymbolicLink()
        ? await linkedFile(root.folder, full, name)
        : await plainFile(full, name);
      if (found === undefined) continue;
      if ("reason" in found) skipped.push(found);
      else files.push(found);
    }
  }

  if (root.file === undefined) await walk(root.folder, "", 0);
  else {
    const only = await plainFile(join(root.folder, root.file), root.file);
    if (only !== undefined && !("reason" in only)) files.push(only);
  }
  return { ...eachOnce(files, skipped), leftovers: leftovers.filter(isWorthNaming) };
}

function fail(folder: string, error: unknown): never {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  throw new Error(`${folder}: ${UNREADABLE[code] ?? `cannot be read (${code})`}`);
}

/** Returns the real path of the folder, and `file` if the location is one file. */
async function rootOf(path: string): Promise<{ folder: string; file?: string }> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory()
      ? { folder: real }
      : { folder: dirname(real), file: basename(real) };
  } catch (error) {
    return fail(path, error);
  }
}

/** Undefined if the file is gone meanwhile. */
async function plainFile(path: string, name: string, link = false): Promise<Found | Waiting | undefined> {
  let stats: BigIntStats;
  try {
    stats = await lstat(path, { bigint: true });
  } catch {
    const problem = nameProblem(name);
    return problem === undefined ? undefined : { name, reason: problem };
  }
  if (!stats.isFile()) return { name, reason: "it is no file" };
  const problem = nameProblem(name);
  return {
    name,
    path,
    link,
    size: Number(stats.size),
    version: versionOf(stats),
    modified: Number(stats.mtimeMs),
    ...(problem === undefined ? {} : { problem }),
  };
}

async function linkedFile(root: string, path: string, name: string): Promise<Found | Waiting | undefined> {
  let target: string;
  try {
    target = await realpath(path);
    if ((await stat(target)).isDirectory()) return { name, reason: "links to folders are not followed" };
  } catch {
    return { name, reason: "a link that leads nowhere" };
  }
  const inside = target.startsWith(root === sep ? sep : `${root}${sep}`);
  if (inside) return await plainFile(target, name, true);
  // The size and date of a file outside of the folder are not disclosed.
  return {
    name,
    path,
    link: true,
    size: 0,
    version: "",
    modified: 0,
    problem: "it is a link that leads out of the folder",
  };
}

/** Keeps the first name of each file, in the order of names. Names of files come before names of links. */
function eachOnce(files: readonly Found[], skipped: readonly Waiting[]) {
  const names = new Map<string, Found>();
  const duplicates: Waiting[] = [];
  const ordered = [...files].sort((a, b) => Number(a.link) - Number(b.link) || compareNames(a.name, b.name));
  for (const file of ordered) {
    const key = file.version === "" ? file.path : file.version;
    const first = names.get(key);
    if (first === undefined) names.set(key, file);
    else
      duplicates.push({ name: file.name, reason: `it is the same file as ${first.name}, which counts once` });
  }
  return { files: [...names.values()], skipped: [...skipped, ...duplicates] };
}

function versionOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${mtimeNs}-${dev}-${ino}-${size}`;
}

async function openFile(path: string, file: StoredFile, signal: AbortSignal) {
  signal.throwIfAborted();
  // Do not follow a link that has replaced the file, and do not wait for a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => {
    throw new FileChangedError(file.name);
  });
  const same = async () => versionOf(await handle.stat({ bigint: true })) === file.version;
  try {
    if (!(await same())) throw new FileChangedError(file.name);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const source = handle.createReadStream({ autoClose: false, highWaterMark: 1_048_576 });
  const bytes = counted(source, file, signal, same);
  bytes.once("close", () => void handle.close().catch(() => {}));
  return bytes;
}
