/**
 * Layouts: which files are one bill. A layout reads names and manifests, never bills, and its result does not depend on the order in which
 * the files were listed.
 */
import type { ManifestTotals, SupersededRuns } from "../delivery.js";
import type { StoredFile, Waiting } from "../stores/store.js";

export interface LayoutInput {
  readonly files: readonly StoredFile[];
  readonly delivery: "snapshot" | "additive";
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Throws NotAManifest. Whatever else it throws fails the listing: without one manifest, an older run would pass for the newest. */
  readonly readManifest: <T>(file: StoredFile, schema: ManifestSchema<T>) => Promise<T>;
}

export interface ManifestSchema<T> {
  check(value: unknown): value is T;
}

/**
 * A bill of a month, or one addition, as one exporter delivers it: of several runs the newest that is announced by its manifest. When that is not
 * complete the bill waits, also where an older run is: what counts never goes back.
 */
export interface Bill {
  /** Of the exporter: several may deliver one month. */
  readonly name: string;
  readonly billing_period: string | undefined;
  readonly kind: "snapshot" | "additive";
  readonly files: readonly StoredFile[];
  readonly manifest?: StoredFile;
  readonly remarks: readonly string[];
  readonly totals?: ManifestTotals;
  /** Why it is not complete, or must not count. */
  readonly problem?: string;
}

export interface LayoutResult {
  readonly bills: readonly Bill[];
  readonly waiting: readonly Waiting[];
  readonly superseded?: readonly SupersededRuns[];
}

/** The file can be read, and is no manifest of the layout. */
export class NotAManifest extends Error {
  override readonly name = "NotAManifest";
}

/** What is wrong with a manifest; throws what is wrong with the reading of it. */
export function manifestProblem(error: unknown): string {
  if (error instanceof NotAManifest) return error.message;
  throw error;
}

export type Layout = (input: LayoutInput) => Promise<LayoutResult>;

/** Entries by key, keys and entries in the order in which they come. */
export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
