/**
 * SHA-256 of files, computed while their bytes are read. Equal bytes are the same charges, whatever the files' names.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { DeliveredFile } from "../sources/delivery.js";

export interface HashedFile {
  readonly file: DeliveredFile;
  /** In hexadecimal. Undefined until the file has been read to its end. */
  digest(): string | undefined;
}

/** Wraps the file, so that its digest is known once it has been read. */
export function hashing(file: DeliveredFile): HashedFile {
  let digest: string | undefined;
  async function* passed(source: Readable) {
    const hash = createHash("sha256");
    for await (const chunk of source as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
    digest = hash.digest("hex");
  }
  const open = async (signal: AbortSignal) => {
    const source = await file.open(signal);
    const bytes = Readable.from(passed(source), { objectMode: false });
    bytes.once("close", () => source.destroy());
    return bytes;
  };
  return { file: { ...file, open }, digest: () => digest };
}

/** Reads the file only for its digest. Throws what reading the file throws. */
export async function digestOfFile(file: DeliveredFile, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of (await file.open(signal)) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest("hex");
}
