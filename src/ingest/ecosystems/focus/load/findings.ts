/**
 * Findings: what may be odd about a line. Each one is a bit of the column `findings`, which is stored with the line.
 * New ones are added at the end.
 */

export interface LineFinding {
  readonly id: string;
  /** A sentence about the lines that have it. */
  readonly what: string;
  /** The line cannot be charged to its day as it is, and the day is partial. */
  readonly malformed?: true;
}

export const NO_CHARGE_DATE = "no_charge_date";

export const lineFindings = [
  { id: NO_CHARGE_DATE, what: "ChargePeriodStart is missing or not an ISO date.", malformed: true },
  {
    id: "unreadable_cost",
    what: "A cost is not a number, or has more than 26 digits before the point.",
    malformed: true,
  },
  { id: "no_currency", what: "BillingCurrency is not a code of three letters.", malformed: true },
  {
    id: "rounded_cost",
    what: "A cost has more than 12 decimal places, and was rounded half away from zero.",
  },
  { id: "unreadable_number", what: "A quantity or a price is not a number, and is read as null." },
  {
    id: "unreadable_date",
    what: "A date other than ChargePeriodStart is not an ISO date, and is read as null.",
  },
  {
    id: "unreadable_tags",
    what: "Tags are not JSON of keys and values. Their text is kept with the custom columns.",
  },
  { id: "repeated_tag_key", what: "A key of Tags repeats. The first value that is not empty counts." },
  {
    id: "blank_tag_key",
    what: "A key of Tags is empty or begins or ends with a blank, which was removed.",
  },
  { id: "no_list_cost", what: "ListCost is missing or 0 on usage or a purchase that costs something." },
  {
    id: "list_cost_below_contracted",
    what: "ListCost is below ContractedCost, by more than 0.01 % and 0.000001.",
  },
  {
    id: "contracted_cost_below_effective",
    what: "ContractedCost is below EffectiveCost, by more than 0.01 % and 0.000001.",
  },
  {
    id: "effective_cost_not_billed",
    what:
      "EffectiveCost differs from BilledCost and neither is 0, although the charge is a tax or a credit, or no " +
      "commitment covers it.",
  },
  {
    id: "commitment_purchase_costs",
    what: "The purchase of a commitment has an EffectiveCost, although the usage that it covers has it, too.",
  },
  {
    id: "cost_not_price_times_quantity",
    what: "A cost is not its unit price × PricingQuantity, by more than 0.01 % and 0.000001.",
  },
  { id: "no_quantity", what: "Usage or a purchase that costs something has no quantity." },
  {
    id: "negative_unit_price",
    what: "A unit price is negative. The sign of a refund is in its quantity and its costs.",
  },
  { id: "half_pair", what: "One of two columns that must be null together is null, and the other is not." },
  {
    id: "priced_without_sku_price",
    what: "SkuPriceId is null, and a price, a quantity or PricingCategory is not.",
  },
  { id: "priced_tax", what: "A tax has a SKU, a price, a priced quantity or a PricingCategory." },
  {
    id: "unpriced_charge",
    what: "Usage or a purchase that is not a correction has no SKU, price, priced quantity or PricingCategory.",
  },
  { id: "foreign_subcategory", what: "ServiceSubcategory belongs to another ServiceCategory." },
] as const satisfies readonly LineFinding[];

/**
 * Findings about lines compared with each other: each value of `of` should have one value of `column`. They have no
 * bit.
 */
export const groupFindings = [
  {
    id: "several_service_categories",
    what: "A ServiceName has several values of ServiceCategory.",
    of: "ServiceName",
    column: "ServiceCategory",
  },
  {
    id: "several_skus",
    what: "A SkuPriceId belongs to several values of SkuId.",
    of: "SkuPriceId",
    column: "SkuId",
  },
] as const;

export type LineFindingId = (typeof lineFindings)[number]["id"];

/** Bits of the findings that make a line malformed. */
export const MALFORMED = lineFindings.reduce(
  (mask, finding, bit) => ("malformed" in finding ? mask | (1 << bit) : mask),
  0,
);

/** Returns the SQL of the column `findings`, from a condition for each finding that can apply. */
export function findingsMask(conditions: Readonly<Partial<Record<LineFindingId, string>>>): string {
  const bits = lineFindings.flatMap(({ id }, bit) => {
    const condition = conditions[id];
    return condition === undefined ? [] : [`if(${condition}, ${1 << bit}, 0)`];
  });
  return bits.length === 0 ? "0" : bits.join(" + ");
}
