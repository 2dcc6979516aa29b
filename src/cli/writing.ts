import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "./command.js";

/** Runs `write`, and reports errors of the file system with the option that named the path. */
export async function writing<Result>(
  option: string,
  path: string,
  write: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Error) || !("path" in error)) throw error;
    throw new CommandError(`--${option}: ${path} cannot be written: ${error.message}`, 1);
  }
}

/**
 * Writes the content to the file of an option completely, or leaves the file unchanged. A path that is no regular file,
 * such as a pipe or a device, is written as the content arrives.
 */
export async function writeWhole(option: string, path: string, content: Readable): Promise<void> {
  await writing(option, path, async () => {
    const found = await stat(path).catch(unlessMissing);
    if (found !== undefined && !found.isFile()) return await pipeline(content, createWriteStream(path));
    // A symbolic link keeps its target.
    const file = found === undefined ? path : await realpath(path);
    const partial = `${file}.${randomBytes(8).toString("hex")}.partial`;
    try {
      await pipeline(content, createWriteStream(partial, { flags: "wx", mode: found?.mode, flush: true }));
      await rename(partial, file);
    } catch (error) {
      content.destroy();
      await rm(partial, { force: true });
      if (error instanceof Error) error.message = error.message.replaceAll(partial, file);
      throw error;
    }
  });
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
