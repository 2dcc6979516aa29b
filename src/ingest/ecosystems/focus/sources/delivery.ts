import type { Readable } from "node:stream";

/** One file of a delivery. */
export interface DeliveredFile {
  /** Path or key within the source, as people know it. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /**
   * Changes whenever the content does: of S3 the ETag, of https the ETag or Last-Modified with the size, of a folder the time of the last change
   * (in ns), the inode and the size.
   */
  readonly version: string;
  /** The export whose manifest names the file. Files of one export have no line in common; other files may. */
  readonly unit?: string | undefined;
  /** A file that unpacks to more MiB is refused (`limits.max_unpacked_mib`). */
  readonly maxUnpackedMib: number;
  /**
   * The bytes from the start. Throws FileChanged when the file is not (or, while it is read, no longer) the one of `version`: nothing is read from
   * a file that changes while it is read.
   */
  open(signal: AbortSignal): Promise<Readable>;
}

/** What a manifest says its files hold. Undefined is what it does not say. */
export interface ManifestTotals {
  /** Path or key of the manifest. */
  readonly manifest: string;
  /** Rows of each file that the manifest names, by the name of the file. */
  readonly files: ReadonlyMap<string, number | undefined>;
  /** Rows and bytes of all its files. */
  readonly rows: number | undefined;
  readonly bytes: number | undefined;
  /** Sums of the rows by billing currency, as plain decimals. */
  readonly currencies: readonly ManifestSums[];
}

export interface ManifestSums {
  readonly currency: string;
  readonly BilledCost: string;
  readonly EffectiveCost: string;
  readonly ListCost: string;
  readonly ContractedCost: string;
}

/** One complete bill of a scope, or one addition to it. */
export interface Delivery {
  /** Name of the configured source. */
  readonly source: string;
  /** `YYYY-MM`, or undefined where only the lines say (plain files). */
  readonly billing_period: string | undefined;
  /** snapshot: replaces what the scope had. additive: adds to it; then each file is one delivery. */
  readonly kind: "snapshot" | "additive";
  /** Identifies the content: equal ids are the same bytes. A digest of names, sizes and versions, and of the manifest where there is one. */
  readonly id: string;
  readonly files: readonly DeliveredFile[];
  /** Sentences: what looked odd (overlapping scopes, two manifests…). A delivery that is not complete yet is not returned but reported as waiting. */
  readonly remarks: readonly string[];
  /** Totals that its manifests state. */
  readonly totals?: readonly ManifestTotals[];
}

/** A bill that is there, and is not complete yet or cannot be taken. */
export type PendingBill = Pick<Delivery, "billing_period" | "kind">;

/** Older runs of an export that are not read, because a newer one has the whole month. */
export interface SupersededRuns {
  readonly billing_period: string;
  readonly runs: number;
  /** Rows of all of them; undefined where a manifest does not state them. */
  readonly rows: number | undefined;
  /** Path of the run that is read. */
  readonly by: string;
}

export interface SourceListing {
  readonly deliveries: readonly Delivery[];
  readonly pending: readonly PendingBill[];
  /** Seen but not complete yet or not understood, with the reason. */
  readonly waiting: readonly { readonly name: string; readonly reason: string }[];
  /** Sentences about what is there, is no bill or is excluded, and is not read. */
  readonly remarks: readonly string[];
  readonly superseded?: readonly SupersededRuns[];
  /** Why there is nothing of all this: a part of a sentence. Undefined where there is something. */
  readonly nothing?: string;
}

export interface BillSource {
  readonly name: string;
  /** Throws when the source cannot be listed completely: half a listing is no listing. */
  list(signal: AbortSignal): Promise<SourceListing>;
  close(): Promise<void>;
}

/** The file is not, or no longer, the one that was listed. The next listing shows what it is now. */
export class FileChanged extends Error {
  override readonly name = "FileChanged";
  constructor(readonly file: string) {
    super(`${JSON.stringify(file)} changed after it was listed, or while it was read`);
  }
}
