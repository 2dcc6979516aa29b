/** Bytes of a file that must be those that were listed. */
import { Readable } from "node:stream";
import { readerError } from "../../../../../store/reader-error.js";
import { FileChanged } from "../delivery.js";
import type { StoredFile } from "./store.js";

/**
 * `source`, which fails when it is longer or shorter than the file was, or when `stillTheSame` does not hold at its end: a file that grows,
 * is cut or is replaced while it is read is never taken for a whole one. `source` is destroyed with it.
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
      if (read > file.size) throw new FileChanged(file.name);
      yield chunk;
    }
    if (read !== file.size || !(await stillTheSame())) throw new FileChanged(file.name);
  }
  const result = readerError(Readable.from(bytes(), { objectMode: false, signal }));
  readerError(source);
  // Also when nobody begins to read.
  result.once("close", () => source.destroy());
  return result;
}
