/** Where sets of files are kept: a folder of this machine or a part of a bucket, which look alike from here. */
import { createHash } from "node:crypto";

export interface FileStore {
  /** Of all files, as people write it, with a slash at its end. */
  readonly path: string;
  /** Writes a file whole, or leaves what there is. */
  put(file: NewStoredFile, signal: AbortSignal): Promise<WrittenFile>;
  /** Names of the files below a folder, `run/part`; none when there is no such folder. */
  list(folder: string, signal: AbortSignal): Promise<string[]>;
  /** One that has gone already is no error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface NewStoredFile {
  /** Below `path`, with `/` between folders. */
  readonly name: string;
  readonly content: AsyncIterable<Buffer>;
  /** Called when all is there and nothing is visible yet: what it throws leaves nothing. */
  readonly beforeReplacing?: () => Promise<void>;
}

export interface WrittenFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Passes the bytes on; what they came to is known at their end. */
export function digested(content: AsyncIterable<Buffer>) {
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    async *content(): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    written: (): WrittenFile => ({ bytes, sha256: hash.digest("hex") }),
  };
}
