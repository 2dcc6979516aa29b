/**
 * Bills in a folder of this machine.
 *
 * Whoever may write there must not make the service read what lies elsewhere: links to folders are not followed, and links to files only
 * within the folder. A file with two names counts once, because a bill that counts twice is charged twice.
 */
import { type BigIntStats, constants } from "node:fs";
import { lstat, open, opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import picomatch from "picomatch";
import { FileChanged } from "../delivery.js";
import { compare, isLeftover, isWorthNaming, nameProblem } from "../file-names.js";
import { counted } from "./counting-store.js";
import type { FileListing, FileStore, StoredFile, Waiting } from "./store.js";

export interface FolderStoreOptions {
  readonly path: string;
  /** Names below `path` that are taken; undefined for all. */
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
  /** Where the bytes are: for a link, what it leads to. */
  readonly path: string;
  readonly link: boolean;
}

export function folderStore(options: FolderStoreOptions): FileStore {
  const paths = new WeakMap<StoredFile, string>();
  return {
    async list(signal) {
      const { files, skipped, leftovers } = await listFolder(options, signal);
      for (const file of files) paths.set(file, file.path);
      return { files, skipped, leftovers } satisfies FileListing;
    },
    async open(file, signal) {
      const path = paths.get(file);
      if (path === undefined) throw new FileChanged(file.name);
      return await openFile(path, file, signal);
    },
    close: async () => {},
  };
}

async function listFolder({ path, glob, maxFiles }: FolderStoreOptions, signal: AbortSignal) {
  const root = await rootOf(path);
  const wanted = glob === undefined ? () => true : picomatch(glob);
  const files: Found[] = [];
  const skipped: Waiting[] = [];
  const leftovers: string[] = [];
  let seen = 0;

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
      seen += 1;
      if (seen > maxFiles)
        throw new Error(`${path}: there are more than ${maxFiles} files (limits.max_files)`);
      if (!wanted(name)) continue;
      const taken = entry.isSymbolicLink()
        ? await followed(root.folder, full, name)
        : await plainFile(full, name);
      if (taken === undefined) continue;
      if ("reason" in taken) skipped.push(taken);
      else files.push(taken);
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

/** The folder as it really is; `file` when the location is one file. */
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

/** Undefined when it is gone meanwhile. */
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

async function followed(root: string, path: string, name: string): Promise<Found | Waiting | undefined> {
  let target: string;
  try {
    target = await realpath(path);
    if ((await stat(target)).isDirectory()) return { name, reason: "links to folders are not followed" };
  } catch {
    return { name, reason: "a link that leads nowhere" };
  }
  const inside = target.startsWith(root === sep ? sep : `${root}${sep}`);
  if (inside) return await plainFile(target, name, true);
  // Size and date of what lies elsewhere are nobody's business here.
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

/** The first name of each file, in the order of names; a name of its own before that of a link. */
function eachOnce(files: readonly Found[], skipped: readonly Waiting[]) {
  const names = new Map<string, Found>();
  const again: Waiting[] = [];
  const ordered = [...files].sort((a, b) => Number(a.link) - Number(b.link) || compare(a.name, b.name));
  for (const file of ordered) {
    const key = file.version === "" ? file.path : file.version;
    const first = names.get(key);
    if (first === undefined) names.set(key, file);
    else again.push({ name: file.name, reason: `it is the same file as ${first.name}, which counts once` });
  }
  return { files: [...names.values()], skipped: [...skipped, ...again] };
}

function versionOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${mtimeNs}-${dev}-${ino}-${size}`;
}

async function openFile(path: string, file: StoredFile, signal: AbortSignal) {
  signal.throwIfAborted();
  // No link in its place is followed, and no pipe is waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => {
    throw new FileChanged(file.name);
  });
  const same = async () => versionOf(await handle.stat({ bigint: true })) === file.version;
  try {
    if (!(await same())) throw new FileChanged(file.name);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const source = handle.createReadStream({ autoClose: false, highWaterMark: 1_048_576 });
  const bytes = counted(source, file, signal, same);
  bytes.once("close", () => void handle.close().catch(() => {}));
  return bytes;
}
