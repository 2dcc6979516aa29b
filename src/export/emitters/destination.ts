/** Where an emitter writes the files of one pipeline. */
import type { PlannedFile } from "./plan.js";

export interface Destination {
  /** The period of one file, or of one set of files. */
  readonly span: "day" | "month";
  /** All settings, except the tenant, that affect the bytes or the paths of files. */
  readonly settings: readonly unknown[];
  /** Throws if nothing can be written to the destination. */
  open(): Promise<OpenDestination>;
}

export interface OpenDestination {
  /** Writes atomically: readers see the old files or all of the new ones. Returns the path and the size. */
  write(planned: PlannedFile): Promise<DestinationFile>;
  /** Whether a file that `write` returned still exists. Undefined if nobody else can remove files. */
  isThere?(file: string): Promise<boolean>;
  /** Removes a file that `write` returned. Ignores missing files and files in other folders. */
  remove(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface DestinationFile {
  readonly file: string;
  readonly bytes: number;
  /**
   * Path of the same file with the other provisional state. An interrupted run may have left an unrecorded file there.
   */
  readonly otherName?: string;
}
