import type { Exact } from "../../../../common/exact-decimal.js";

/** A row's contribution to a line. Rows of one key and day are one line. */
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
  /** Other fields of the row, for the line's metadata. Values are JSON, with sorted keys. */
  readonly notes: Readonly<Record<string, unknown>>;
}
