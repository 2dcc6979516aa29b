/** Warns about a line type without a rule, whose costs go to UNALLOCATED, but not at every refresh. */
import type { Logger } from "pino";

/** Limits the memory that an upstream can fill. Vendors have far fewer products. */
const MOST_TYPES = 1000;

const warnedOf = new Set<string>();

/** Warns once for each type and process. */
export function warnOfUnknownType(productType: string, logger: Logger): void {
  if (warnedOf.has(productType) || warnedOf.size >= MOST_TYPES) return;
  warnedOf.add(productType);
  logger.warn(
    { product_type: productType },
    "the bill has an unknown line type; its costs go to UNALLOCATED with no_allocator_for_product_type",
  );
}
