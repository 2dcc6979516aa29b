/**
 * What the bill names, day by day: usage and identity sets are gathered for these resources and no others.
 *
 * By day, and not for a window as a whole: a set or a fact of a resource that is not billed on a day would be part of that
 * day's content, and would come and go as the windows slide over it from one run to the next.
 */
import type { ProductFamily } from "./costs/product-types.js";

/** Day → product family → resources with a line. Days whose products are all unknown are there, without a family. */
export type BilledResources = ReadonlyMap<string, ReadonlyMap<ProductFamily, ReadonlySet<string>>>;

export interface BilledCollector {
  readonly billed: BilledResources;
  /** `family`: undefined for a product type that nobody has heard of. */
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
