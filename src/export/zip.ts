/** Writes a ZIP while its files are read, one after another, so that memory stays flat. */
import { Readable } from "node:stream";
import { ZipFile } from "yazl";

export interface ZippedFile {
  /** Safe in every file system, and different from all others. */
  readonly name: string;
  /** Called when the files before it are written. */
  open(): Promise<AsyncIterable<Buffer>>;
}

export function zipOf(files: readonly ZippedFile[], now: Date): AsyncIterable<Buffer> {
  const zip = new ZipFile();
  // The types of the library hide that it can be destroyed.
  const output = zip.outputStream as Readable;
  zip.on("error", (error) => output.destroy(error));
  for (const { name, open } of files)
    zip.addReadStreamLazy(name, { mtime: now }, (callback) => {
      open().then(
        (source) => callback(null, Readable.from(source)),
        (error: unknown) => callback(error, Readable.from([])),
      );
    });
  zip.end();
  return output;
}
