/**
 * Versions of the FOCUS specification, oldest first, and their detection from the columns of a file, because files do
 * not name their version. Source: FOCUS specification 1.4, CC-BY-4.0.
 */
export const focusVersions = ["0.5", "1.0-preview", "1.0", "1.1", "1.2", "1.3", "1.4"] as const;

export type FocusVersion = (typeof focusVersions)[number];

/**
 * Columns that occur only from this version on, newest first. Left out: columns that vendors exported before they were
 * specified.
 */
const identifyingColumns: readonly (readonly [FocusVersion, readonly string[]])[] = [
  ["1.4", ["InvoiceDetailId", "CommitmentProgramEligibilityDetails"]],
  [
    "1.3",
    [
      "ServiceProviderName",
      "HostProviderName",
      "AllocatedMethodId",
      "AllocatedResourceId",
      "ContractApplied",
    ],
  ],
  // BillingAccountType and SubAccountType are left out, because Microsoft's exports have them in 1.0, too.
  ["1.2", ["InvoiceId", "PricingCurrency", "PricingCurrencyEffectiveCost"]],
  ["1.1", ["SkuMeter", "SkuPriceDetails", "ServiceSubcategory", "CapacityReservationId"]],
  ["1.0", ["ChargeClass", "ConsumedQuantity", "ContractedCost", "RegionId", "CommitmentDiscountStatus"]],
  ["1.0-preview", ["ChargeSubcategory", "UsageQuantity", "EffectiveCost", "ChargeCategory"]],
  ["0.5", ["AmortizedCost", "ChargeType"]],
];

/** Detects the version from column names, in any case and order. Undefined if they fit several versions. */
export function detectVersion(columns: readonly string[]): FocusVersion | undefined {
  const names = new Set(columns.map((name) => name.trim().toLowerCase()));
  const has = (name: string) => names.has(name.toLowerCase());
  // 1.4 removed ProviderName, which ServiceProviderName has replaced since 1.3.
  if (has("ServiceProviderName") && !has("ProviderName")) return "1.4";
  return identifyingColumns.find(([, columns]) => columns.some(has))?.[0];
}

export function isAtLeast(version: FocusVersion, least: FocusVersion): boolean {
  return focusVersions.indexOf(version) >= focusVersions.indexOf(least);
}
