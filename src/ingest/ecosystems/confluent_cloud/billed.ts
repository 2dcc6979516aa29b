/**
 * Resources in the bill, day by day. Usage and identity sets are gathered only for these resources.
 *
 * They are kept by day and not by window, because a set or a fact of a resource that is not billed on a day would
 * become part of that day's content, and would come and go as the windows move from run to run.
 */
import type { ProductFamily } from "./costs/product-types.js";

/** Day → product family → resources with a line. Days with only unknown products are included, without a family. */
export type BilledResources = ReadonlyMap<string, ReadonlyMap<ProductFamily, ReadonlySet<string>>>;

export interface BilledCollector {
  readonly billed: BilledResources;
  /** `family`: undefined for an unknown product type. */
  add(day: string, family: ProductFamily | undefined, resourceId: string): void;
}

export function collectBilled(): BilledCollector {
  const billed = new Map<string, Map<ProductFamily, Set<string>>>();
  return {
    billed,
    add(day, family, resourceId) {
      const families = entry(billed, day, () => new Map<ProductFamily, Set<string>>());
      if (family !== undefined) entry(families, family, () => new Set<string>()).add(resourceId);
    },
  };
}

/** Resources of these families on one day. */
export function billedOn(
  billed: BilledResources,
  day: string,
  families: readonly ProductFamily[],
): Set<string> {
  const found = new Set<string>();
  for (const family of families) {
    for (const resourceId of billed.get(day)?.get(family) ?? []) found.add(resourceId);
  }
  return found;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
