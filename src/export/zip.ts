/** Writes a ZIP while its files are read, one after another, so that memory stays flat. */
import { Readable } from "node:stream";
import { ZipFile } from "yazl";

export interface ZippedFile {
  /** Safe in every file system, and different from all others. */
  readonly name: string;
  /** Called when the files before it are written. */
  open(): Promise<AsyncIterable<Buffer>>;
}

/** The time of every file: equal rows are equal bytes, as the ETag says. */
const TIME = { mtime: new Date(2000, 0, 1), forceDosTimestamp: true };

export function zipOf(files: readonly ZippedFile[]): AsyncIterable<Buffer> {
  const zip = new ZipFile();
  // The types of the library hide that it can be destroyed.
  const output = zip.outputStream as Readable;
  zip.on("error", (error) => output.destroy(error));
  for (const { name, open } of files)
    zip.addReadStreamLazy(name, TIME, (callback) => {
      open().then(
        (source) => callback(null, Readable.from(source)),
        (error: unknown) => callback(error, Readable.from([])),
      );
    });
  zip.end();
  return output;
}
