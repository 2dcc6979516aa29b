/** Common interface to store files in a local folder or in a bucket. */
import { createHash } from "node:crypto";

export interface FileStore {
  /** Path of the store for users, with a trailing slash. */
  readonly path: string;
  /** Writes a file atomically. On error, an existing file stays unchanged. */
  put(file: NewStoredFile, signal: AbortSignal): Promise<WrittenFile>;
  /** Names of the files below a folder, with the folder. Empty if the folder does not exist. */
  list(folder: string, signal: AbortSignal): Promise<string[]>;
  /** Removes a file. A missing file is not an error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface NewStoredFile {
  /** Path relative to `path`, with `/` between folders. */
  readonly name: string;
  readonly content: AsyncIterable<Buffer>;
  /** Called after all bytes are written and before the file becomes visible. If it throws, the file is dropped. */
  readonly beforeReplacing?: () => Promise<void>;
}

export interface WrittenFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Passes the bytes through. Their size and digest are known at the end. */
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
