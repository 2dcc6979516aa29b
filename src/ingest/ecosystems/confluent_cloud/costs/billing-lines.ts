/**
 * Combines rows of the bill into billing lines. Rows that are equal in day, environment, resource, product and line
 * type are one line, such as the tiers of a price, or a charge and its refund.
 *
 * Sums are exact, and are rounded once at the end to the 12 decimal places of the store. A line does not depend on the
 * order of its rows, which the vendor does not guarantee.
 */
import {
  decimalText,
  type Exact,
  exactText,
  minus,
  parseExact,
  roundedQuotient,
  sumOf,
  zero,
} from "../../../../common/exact-decimal.js";
import type { BillingLine } from "../../../ecosystem.js";
import type { CostPart } from "./cost-row.js";

/** Half of the allowed size. A thousand rows in one line are some 200 KB. */
const LARGEST = 500_000;

/**
 * Shortens lists that do not fit, and states how many entries were left out. Amounts are already summed, so only their
 * explanation gets shorter. The lists are sorted, so the same rows always lose the same entries.
 */
function fittingMetadata(
  common: Readonly<Record<string, unknown>>,
  tiers: readonly Readonly<Record<string, unknown>>[],
): Record<string, unknown> {
  if (tiers.length === 0) return { ...common }; // one row, whose texts are shortened when they are read
  for (let most = tiers.length; ; most = Math.floor(most / 2)) {
    const metadata = withMost(common, tiers, most);
    if (most === 0 || JSON.stringify(metadata).length <= LARGEST) return metadata;
  }
}

function withMost(
  { vendor_ids: ids, ...common }: Readonly<Record<string, unknown>>,
  tiers: readonly Readonly<Record<string, unknown>>[],
  most: number,
): Record<string, unknown> {
  const keptIds = Array.isArray(ids) ? ids.slice(0, Math.max(most, 1)) : undefined;
  return {
    ...common,
    ...(keptIds === undefined ? {} : { vendor_ids: keptIds }),
    tiers: tiers.slice(0, most),
    ...(most < tiers.length ? { tiers_left_out: tiers.length - most } : {}),
  };
}

/** Decimal places of quantities, prices and costs in the store. */
const PLACES = 12;

export interface LineCollector {
  add(part: CostPart): void;
  /** Returns the lines of a day in a fixed order, and frees the memory of its parts. */
  takeLinesOf(day: string): BillingLine[];
}

/**
 * `repeated` is called for each row that was already added, and counts once: pages of a list that changes meanwhile
 * overlap.
 */
export function collectLines(repeated: (part: CostPart) => void): LineCollector {
  const days = new Map<string, Map<string, CostPart[]>>();
  return {
    add(part) {
      const lines = days.get(part.day) ?? new Map<string, CostPart[]>();
      days.set(part.day, lines);
      const key = keyOf(part);
      const parts = lines.get(key);
      if (parts === undefined) lines.set(key, [part]);
      else parts.push(part);
    },
    takeLinesOf(day) {
      const lines = [...(days.get(day) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      days.delete(day);
      return lines
        .map(([, parts]) => lineOf(withoutRepeated(parts, repeated)))
        .filter((line) => line !== undefined);
    },
  };
}

function keyOf({ env_id, resource_id, product_category, product_type }: CostPart): string {
  return JSON.stringify([resource_id, product_type, env_id, product_category]);
}

/** Drops repeated rows, which have the same vendor id and are equal in everything else. */
function withoutRepeated(
  parts: readonly CostPart[],
  repeated: (part: CostPart) => void,
): readonly CostPart[] {
  if (parts.length === 1) return parts;
  const known = new Set<string>();
  return parts.filter((part) => {
    const { vendorId, notes, ...amounts } = part;
    if (vendorId === undefined) return true;
    const { quantity, price, cost, original, discount } = amounts;
    const texts = [quantity, price, cost, original, discount].map((amount) => amount && exactText(amount));
    const row = JSON.stringify([vendorId, ...texts, notes]);
    const isNew = !known.has(row);
    if (isNew) known.add(row);
    else repeated(part);
    return isNew;
  });
}

function lineOf(parts: readonly CostPart[]): BillingLine | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  const quantity = sumOf(parts.map((part) => part.quantity));
  const cost = sumOf(parts.map((part) => part.cost));
  const price = parts.length === 1 ? first.price : zero;
  const shared = sharedNotes(parts);
  const exact = digitsLost({ quantity, unit_price: price, total_cost: cost });
  return {
    timestamp: `${first.day}T00:00:00Z`,
    env_id: first.env_id,
    resource_id: first.resource_id,
    product_category: first.product_category,
    product_type: first.product_type,
    quantity: stored(quantity),
    unit_price: stored(price),
    total_cost: stored(cost),
    currency: "USD",
    granularity: "daily",
    metadata: fittingMetadata(
      { ...commonOf(parts, shared), ...exact },
      parts.length === 1 ? [] : tiersOf(parts, shared),
    ),
  };
}

function stored(exact: Exact): string {
  return isStorable(exact) ? exactText(exact) : decimalText(roundedQuotient(exact, 1n, PLACES), PLACES);
}

function isStorable({ scale }: Exact): boolean {
  return scale <= PLACES;
}

/** Returns `exact`: the amounts that were rounded for the store, so that no digit is lost. */
function digitsLost(amounts: Readonly<Record<string, Exact>>): Record<string, unknown> {
  const lost = Object.entries(amounts).filter(
    ([, amount]) => !isStorable(amount) && stored(amount) !== exactText(amount),
  );
  if (lost.length === 0) return {};
  return { exact: Object.fromEntries(lost.map(([name, amount]) => [name, exactText(amount)])) };
}

/**
 * Returns what all rows have in common, the sums of their list prices and discounts, and the vendor's ids of the rows.
 */
function commonOf(parts: readonly CostPart[], shared: ReadonlySet<string>): Record<string, unknown> {
  const common: Record<string, unknown> = {};
  for (const [name, note] of Object.entries(parts[0]?.notes ?? {})) if (shared.has(name)) common[name] = note;
  const errors = parts.map(({ notes }) => notes.parse_error).filter((error) => typeof error === "string");
  if (errors.length > 0) common.parse_error = [...new Set(errors)].sort().join("; ");
  const original = summedIfAny(parts.map((part) => part.original));
  if (original !== undefined) common.original_amount = exactText(original);
  const discount = summedIfAny(parts.map((part) => part.discount));
  if (discount !== undefined) common.discount_amount = exactText(discount);
  const ids = new Set(parts.map(({ vendorId }) => vendorId).filter((id) => id !== undefined));
  if (ids.size > 0) common.vendor_ids = [...ids].sort();
  return common;
}

function summedIfAny(amounts: readonly (Exact | undefined)[]): Exact | undefined {
  const given = amounts.filter((amount) => amount !== undefined);
  return given.length === 0 ? undefined : sumOf(given);
}

/** Names of the notes that are the same in all rows. */
function sharedNotes([first, ...others]: readonly CostPart[]): Set<string> {
  if (others.length === 0) return new Set(Object.keys(first?.notes ?? {}));
  const notes = Object.entries(first?.notes ?? {});
  const same = notes.filter(([name, note]) => {
    const text = JSON.stringify(note);
    return others.every((part) => JSON.stringify(part.notes[name]) === text);
  });
  return new Set(same.map(([name]) => name));
}

/** Returns the rows of a line with several rows, by the start of their tier, with the notes that differ. */
function tiersOf(parts: readonly CostPart[], shared: ReadonlySet<string>): Record<string, unknown>[] {
  return parts
    .map((part) => {
      const own = Object.entries(part.notes).filter(([name]) => !shared.has(name));
      const tier = {
        price: exactText(part.price),
        quantity: exactText(part.quantity),
        cost: exactText(part.cost),
        ...Object.fromEntries(own),
      };
      return { tier, start: tierStart(part), text: JSON.stringify(tier) };
    })
    .sort((a, b) => compareExact(a.start, b.start) || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ tier }) => tier);
}

function tierStart({ notes }: CostPart): Exact {
  const { tier_dimensions: tier } = notes;
  const start: unknown =
    typeof tier === "object" && tier !== null ? Reflect.get(tier, "tier_start") : undefined;
  return (typeof start === "string" ? parseExact(start) : undefined) ?? zero;
}

function compareExact(a: Exact, b: Exact): number {
  const { units } = minus(a, b);
  return units < 0n ? -1 : units > 0n ? 1 : 0;
}
