import type { Readable } from "node:stream";

/** One file of a delivery. */
export interface DeliveredFile {
  /** Path or key within the source, as people know it. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /**
   * Changes whenever the content does: the ETag for S3, the ETag or Last-Modified and size for https, and the time of
   * the last change (in ns), inode and size for a folder.
   */
  readonly version: string;
  /**
   * The export whose manifest names the file. Files of one export have no line in common. Files of different exports
   * may.
   */
  readonly unit?: string | undefined;
  /** A file that unpacks to more MiB than this is refused (`limits.max_unpacked_mib`). */
  readonly maxUnpackedMib: number;
  /**
   * Returns the bytes from the start. Throws FileChangedError if the file is not, or while being read no longer is, the
   * one of `version`. Nothing is loaded from a file that changes while it is read.
   */
  open(signal: AbortSignal): Promise<Readable>;
}

/** What a manifest states about its files. Undefined for what it does not state. */
export interface ManifestTotals {
  /** Path or key of the manifest. */
  readonly manifest: string;
  /** Rows of each file that the manifest names, by file name. */
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
  /** `YYYY-MM`. Undefined for plain files whose period only the lines state. */
  readonly billing_period: string | undefined;
  /**
   * A `snapshot` replaces what the scope had. An `additive` delivery adds to it, and then each file is one delivery.
   */
  readonly kind: "snapshot" | "additive";
  /**
   * Identifies the content: equal ids mean equal bytes. A digest of names, sizes and versions, and of the manifest if
   * there is one.
   */
  readonly id: string;
  readonly files: readonly DeliveredFile[];
  /**
   * Sentences about what looks odd, such as overlapping scopes or two manifests. A delivery that is not complete yet is
   * not returned, but reported as waiting.
   */
  readonly remarks: readonly string[];
  /** Totals that its manifests state. */
  readonly totals?: readonly ManifestTotals[];
}

/** A bill that is present but not complete yet, or cannot be taken. */
export type PendingBill = Pick<Delivery, "billing_period" | "kind">;

/** Older runs of an export, not read because a newer run has the whole month. */
export interface SupersededRuns {
  readonly billing_period: string;
  readonly runs: number;
  /** Rows of all these runs. Undefined if a manifest does not state its rows. */
  readonly rows: number | undefined;
  /** Path of the run that is read instead. */
  readonly by: string;
}

export interface SourceListing {
  readonly deliveries: readonly Delivery[];
  readonly pending: readonly PendingBill[];
  /** Bills that are not complete yet or not understood, with the reason. */
  readonly waiting: readonly { readonly name: string; readonly reason: string }[];
  /** Sentences about files that are not read because they are not bills or are excluded. */
  readonly remarks: readonly string[];
  readonly superseded?: readonly SupersededRuns[];
  /** The reason why the listing is empty, as part of a sentence. Undefined if it is not empty. */
  readonly nothing?: string;
}

export interface BillSource {
  readonly name: string;
  /** Throws if the source cannot be listed completely: half a listing would look like deleted bills. */
  list(signal: AbortSignal): Promise<SourceListing>;
  close(): Promise<void>;
}

/** The file is not, or no longer, the one that was listed. The next listing shows its new state. */
export class FileChangedError extends Error {
  override readonly name = "FileChangedError";
  constructor(readonly file: string) {
    super(`${JSON.stringify(file)} changed after it was listed, or while it was read`);
  }
}
