/** Checks that a file's bytes are those that were listed. */
import { Readable } from "node:stream";
import { readerError } from "../../../../../common/reader-error.js";
import { FileChangedError } from "../delivery.js";
import type { StoredFile } from "./file-source.js";

/**
 * Returns `source` as a stream that fails if it is longer or shorter than the listed file, or if `stillTheSame` returns
 * false at its end. A file that grows, is cut or is replaced while it is read is never taken for a whole one. `source`
 * is destroyed with the result.
 */
export function counted(
  source: Readable,
  file: StoredFile,
  signal: AbortSignal,
  stillTheSame: () => Promise<boolean> = async () => true,
): Readable {
  async function* bytes() {
    let read = 0;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > file.size) throw new FileChangedError(file.name);
      yield chunk;
    }
    if (read !== file.size || !(await stillTheSame())) throw new FileChangedError(file.name);
  }
  const result = readerError(Readable.from(bytes(), { objectMode: false, signal }));
  readerError(source);
  // Also if nobody begins to read.
  result.once("close", () => source.destroy());
  return result;
}
