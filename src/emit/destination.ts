/** Where the files of one pipeline of an emitter go, whatever they look like. */
import type { PlannedFile } from "./plan.js";

export interface Destination {
  /** What one file, or one set of files, holds. */
  readonly span: "day" | "month";
  /** Everything of the settings but the tenant that bytes and places depend on. */
  readonly settings: readonly unknown[];
  /** Throws when it cannot be written to at all. */
  open(): Promise<OpenDestination>;
}

export interface OpenDestination {
  /** In one step: whoever reads sees what was there before or all that is new. Returns where it is, and how many bytes it has. */
  write(planned: PlannedFile): Promise<Written>;
  /** Whether what `write` returned is still there. Left out where nobody else can remove it. */
  isThere?(file: string): Promise<boolean>;
  /** What `write` returned. What has gone already, or lies elsewhere, is left alone. */
  remove(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface Written {
  readonly file: string;
  readonly bytes: number;
  /** Where the same would be if it were provisional, or were not: a run that was cut off before its file was recorded may have left it there. */
  readonly otherName?: string;
}
