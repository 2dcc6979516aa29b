/** A line type that has no rule is charged to nobody; somebody should know, but not at every refresh. */
import type { Logger } from "pino";

/** What an upstream may fill memory with: far more than a vendor has products. */
const MOST_TYPES = 1000;

const warnedOf = new Set<string>();

/** Once for each type and process. */
export function warnOfUnknownType(productType: string, logger: Logger): void {
  if (warnedOf.has(productType) || warnedOf.size >= MOST_TYPES) return;
  warnedOf.add(productType);
  logger.warn(
    { product_type: productType },
    "the bill has a line type that is not known; its costs go to UNALLOCATED with no_allocator_for_product_type",
  );
}
