import { readdir, realpath, rmdir } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { isMissing, openOutputFolder, removeFile, replaceFile } from "../output-folder.js";
import { digested, type FileStore } from "./file-store.js";

/** Creates the folder if it is missing. Links below it are not followed. */
export async function folderStore(location: string, tenantName: string): Promise<FileStore> {
  const root = await openOutputFolder(location, tenantName);

  /** Opens the folder of a file. Throws if it is a link to another place. */
  async function folderOf(name: string) {
    const expected = join(root.path, dirname(name));
    await refuseLink(expected);
    const folder = await openOutputFolder(expected, tenantName);
    if (folder.path !== expected) throw linked(expected);
    return folder;
  }

  return {
    path: `${root.path}/`,
    async put({ name, content, beforeReplacing = async () => {} }, signal) {
      const digest = digested(content);
      await replaceFile(await folderOf(name), {
        name: posix.basename(name),
        content: digest.content(),
        beforeReplacing,
        signal,
      });
      return digest.written();
    },
    async list(folder) {
      const path = join(root.path, folder);
      try {
        if ((await realpath(path)) !== path) return [];
        const entries = await readdir(path, { recursive: true, withFileTypes: true });
        return entries
          .filter((entry) => entry.isFile())
          .map((entry) => posix.join(folder, join(entry.parentPath, entry.name).slice(path.length)));
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },
    async remove(name) {
      const folder = join(root.path, dirname(name));
      const real = await realpath(folder).catch(() => undefined);
      if (real !== folder) return;
      await removeFile({ ...root, path: folder }, join(folder, posix.basename(name)));
      // Remove empty parent folders. Folders with other files stay.
      for (let empty = folder; empty !== root.path; empty = dirname(empty)) {
        const removed = await rmdir(empty).then(
          () => true,
          () => false,
        );
        if (!removed) return;
      }
    },
    close() {},
  };
}

/**
 * Throws if a link is part of the path. Checked before folders are created, because a link would move them elsewhere.
 */
async function refuseLink(path: string): Promise<void> {
  const real = await realpath(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (real === undefined) await refuseLink(dirname(path));
  else if (real !== path) throw linked(path);
}

function linked(path: string): Error {
  return new Error(`${path} is a link: nothing is written there`);
}
