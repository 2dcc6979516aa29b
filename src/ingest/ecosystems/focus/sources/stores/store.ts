/** A place that holds files: what a folder, a bucket and an address have in common. Layouts make bills of the files. */
import type { Readable } from "node:stream";

export interface StoredFile {
  /** Path below the folder, key of the bucket, or address. Unique in a listing. */
  readonly name: string;
  readonly size: number;
  /** Changes whenever the content does. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Why it cannot be read, though it is there: the bill that it belongs to waits. */
  readonly problem?: string;
}

/** Something that was seen and is not taken, and why. */
export interface Waiting {
  readonly name: string;
  readonly reason: string;
}

export interface FileListing {
  /** All files that are no leftovers, in no particular order. */
  readonly files: readonly StoredFile[];
  /** What is no file of its own: a link to a folder, another name of a file. */
  readonly skipped: readonly Waiting[];
  /** Paths that look like bills and were skipped, because a part of them is the name of a leftover. Folders end in a slash. */
  readonly leftovers: readonly string[];
}

export interface FileStore {
  /** Throws when the place cannot be listed completely, or holds more than `max_files`. */
  list(signal: AbortSignal): Promise<FileListing>;
  /** The bytes of a listed file from the start. Throws FileChanged, also while they are read. */
  open(file: StoredFile, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}
