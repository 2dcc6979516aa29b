/**
 * A line of a simulated bill, with columns of FOCUS 1.2. Source: FOCUS specification 1.2, © FinOps Foundation,
 * CC-BY-4.0.
 */
export const numberColumns = [
  "BilledCost",
  "CommitmentDiscountQuantity",
  "ConsumedQuantity",
  "ContractedCost",
  "ContractedUnitPrice",
  "EffectiveCost",
  "ListCost",
  "ListUnitPrice",
  "PricingQuantity",
] as const;

export const timeColumns = [
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargePeriodEnd",
  "ChargePeriodStart",
] as const;

const textColumns = [
  "BillingAccountId",
  "BillingAccountName",
  "BillingAccountType",
  "BillingCurrency",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargeFrequency",
  "CommitmentDiscountCategory",
  "CommitmentDiscountId",
  "CommitmentDiscountName",
  "CommitmentDiscountStatus",
  "CommitmentDiscountType",
  "CommitmentDiscountUnit",
  "ConsumedUnit",
  "InvoiceId",
  "InvoiceIssuerName",
  "PricingCategory",
  "PricingCurrency",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "RegionId",
  "RegionName",
  "ResourceId",
  "ResourceName",
  "ResourceType",
  "ServiceCategory",
  "ServiceName",
  "ServiceSubcategory",
  "SkuId",
  "SkuMeter",
  "SkuPriceDetails",
  "SkuPriceId",
  "SubAccountId",
  "SubAccountName",
  "SubAccountType",
] as const;

type Column = (typeof numberColumns | typeof timeColumns | typeof textColumns)[number];
export const columns: readonly Column[] = [...numberColumns, ...timeColumns, ...textColumns].sort();

/** Numbers are decimal text, times are ISO 8601 in UTC, missing values are null. */
export type BillLine = Readonly<Partial<Record<Column, string | null>>> & {
  readonly tags: Readonly<Record<string, string>>;
};

/** Converts a whole number of billionths to decimal text: 1500000000 → 1.5. */
export function billionths(count: number): string {
  if (!Number.isSafeInteger(count)) throw new RangeError("an amount of a simulated bill is too large");
  const digits = String(Math.abs(count)).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${count < 0 ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}
