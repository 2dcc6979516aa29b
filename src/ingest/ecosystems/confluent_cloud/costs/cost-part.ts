import type { Exact } from "../../../../numbers/exact.js";

/** What a row adds to a line: rows of one key and day are one line. */
export interface CostPart {
  readonly day: string;
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly quantity: Exact;
  readonly price: Exact;
  readonly cost: Exact;
  readonly original: Exact | undefined;
  readonly discount: Exact | undefined;
  readonly vendorId: string | undefined;
  /** What else the row says, for the line's metadata. Values are JSON, with keys in order. */
  readonly notes: Readonly<Record<string, unknown>>;
}
