import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandFailed } from "./command.js";

/** Does what writes the file or folder that an option names. What the file system refuses is told as the option. */
export async function writing<Result>(
  option: string,
  path: string,
  write: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Error) || !("path" in error)) throw error;
    throw new CommandFailed(`--${option}: ${path} cannot be written: ${error.message}`, 1);
  }
}

/**
 * Writes all of the content to the file that an option names, or leaves the file as it was. What is no plain file, such as a pipe or a device, is written to
 * as the content comes.
 */
export async function writeWhole(option: string, path: string, content: Readable): Promise<void> {
  await writing(option, path, async () => {
    const found = await stat(path).catch(unlessMissing);
    if (found !== undefined && !found.isFile()) return await pipeline(content, createWriteStream(path));
    // A link goes on naming the file that it named.
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
