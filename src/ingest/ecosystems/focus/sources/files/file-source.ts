/**
 * The interface that a folder, a bucket and an address have in common: a listing of files that can be opened. Layouts
 * turn the files into bills.
 */
import type { Readable } from "node:stream";

export interface StoredFile {
  /** Path below the folder, key in the bucket, or address. Unique in a listing. */
  readonly name: string;
  readonly size: number;
  /** Changes whenever the content does. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Why the file cannot be read although it is there. The bill that it belongs to waits. */
  readonly problem?: string;
}

/** A file or bill that was found but is not taken, and why. */
export interface Waiting {
  readonly name: string;
  readonly reason: string;
}

export interface FileListing {
  /** All files except leftovers, in no particular order. */
  readonly files: readonly StoredFile[];
  /** Entries that are not files of their own, such as a link to a folder or a second name of a file. */
  readonly skipped: readonly Waiting[];
  /**
   * Paths that look like bills but were skipped, because a part of the path is the name of a leftover. Folders end in a
   * slash.
   */
  readonly leftovers: readonly string[];
}

export interface FileSource {
  /** Throws if the listing is incomplete, or if there are more than `max_files`. */
  list(signal: AbortSignal): Promise<FileListing>;
  /** Returns the bytes of a listed file from the start. Throws FileChangedError, also while the bytes are read. */
  open(file: StoredFile, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}
