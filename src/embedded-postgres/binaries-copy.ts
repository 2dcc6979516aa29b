/**
 * A copy of the Postgres programs (60 MB, 0.3 s, once per version) in a folder that the server's user can enter.
 *
 * The copy is made under a temporary name and renamed, so that it is complete or absent, even if several processes make
 * it at once. Its name contains the version and a fingerprint of names and sizes. Before a copy is reused, it must
 * still have that fingerprint, belong to us and be writable by nobody else. Otherwise root could run a stranger's
 * program.
 */
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Returns the folder of the copy, inside of `folder`. `finish` is called on a new copy before the copy gets its name.
 */
export async function copyBinaries(
  native: string,
  folder: string,
  finish: (copy: string) => Promise<void>,
): Promise<string> {
  const tree = await readTree(native);
  const name = `postgres-${await packageVersion(native)}-${fingerprint(tree)}`;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await assertOurs(folder);
  await chmod(folder, 0o755);
  const copy = join(folder, name);
  if (await isWhole(copy)) return copy;

  const temporary = join(folder, `.${name}.${process.pid}.${randomBytes(4).toString("hex")}`);
  try {
    await copyTree(tree, native, temporary);
    await finish(temporary);
    await rename(temporary, copy).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
      if (await isWhole(copy)) return; // another process was faster
      await rename(copy, `${temporary}.damaged`);
      await rename(temporary, copy);
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await rm(`${temporary}.damaged`, { recursive: true, force: true });
  }
  return copy;
}

interface Tree {
  /** Parents before children, beginning with `""`. */
  folders: string[];
  /** Regular files only. Symbolic links may be missing in an installation, but not in a copy. */
  files: { path: string; size: number; executable: boolean }[];
}

async function readTree(root: string, check?: (path: string) => Promise<void>): Promise<Tree> {
  const tree: Tree = { folders: [""], files: [] };
  for (const folder of tree.folders) {
    await check?.(join(root, folder));
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) tree.folders.push(path);
      if (!entry.isFile()) continue;
      await check?.(join(root, path));
      const { size, mode } = await lstat(join(root, path));
      tree.files.push({ path, size, executable: (mode & 0o100) !== 0 });
    }
  }
  return tree;
}

/** Makes the copy readable for everybody, whatever our umask is or that of the installation was. */
async function copyTree(tree: Tree, from: string, to: string): Promise<void> {
  for (const folder of tree.folders) {
    await mkdir(join(to, folder));
    await chmod(join(to, folder), 0o755);
  }
  for (const { path, executable } of tree.files) {
    await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
    await chmod(join(to, path), executable ? 0o755 : 0o644);
  }
}

function fingerprint({ files }: Tree): string {
  const lines = files.map(({ path, size }) => `${path}\0${size}`).sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

async function packageVersion(native: string): Promise<string> {
  const manifest = await readFile(join(dirname(native), "package.json"), "utf8").catch(() => "{}");
  const version = (JSON.parse(manifest) as { version?: unknown }).version;
  return typeof version === "string" && /^[\w.-]+$/.test(version) ? version : "unknown";
}

async function isWhole(copy: string): Promise<boolean> {
  try {
    return copy.endsWith(`-${fingerprint(await readTree(copy, assertOurs))}`);
  } catch {
    return false;
  }
}

async function assertOurs(path: string): Promise<void> {
  const { uid, mode } = await lstat(path);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${path} belongs to another user or can be written by others`);
  }
}
