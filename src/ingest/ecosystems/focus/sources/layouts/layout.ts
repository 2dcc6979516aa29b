/**
 * A layout decides which files are one bill. It reads names and manifests, never bills, and its result does not depend
 * on the order of the listing.
 */
import type { ManifestTotals, SupersededRuns } from "../delivery.js";
import type { StoredFile, Waiting } from "../files/file-source.js";

export interface LayoutInput {
  readonly files: readonly StoredFile[];
  readonly delivery: "snapshot" | "additive";
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Throws NotAManifestError. Any other error fails the listing: without one manifest, an older run would pass for the
   * newest.
   */
  readonly readManifest: <T>(file: StoredFile, schema: ManifestSchema<T>) => Promise<T>;
}

export interface ManifestSchema<T> {
  check(value: unknown): value is T;
}

/**
 * A bill of a month, or one addition, as one exporter delivers it. If there are several runs, it is the newest run that
 * has a manifest. If that run is not complete, the bill waits even if an older run is complete: a charged bill is never
 * replaced by an older one.
 */
export interface BillFile {
  /** Name of the export. Several exports may deliver the same month. */
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
  readonly bills: readonly BillFile[];
  readonly waiting: readonly Waiting[];
  readonly superseded?: readonly SupersededRuns[];
}

/** The file can be read, but is not a manifest of the layout. */
export class NotAManifestError extends Error {
  override readonly name = "NotAManifestError";
}

/** Returns what is wrong with a manifest. Rethrows errors of reading it. */
export function manifestProblem(error: unknown): string {
  if (error instanceof NotAManifestError) return error.message;
  throw error;
}

export type Layout = (input: LayoutInput) => Promise<LayoutResult>;

/** Groups items by key. Keys and items keep their order. */
export function groupFiles<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
