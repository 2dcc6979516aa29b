/**
 * Renamed columns: when reading a file, the column `from` counts as the column `to`. Only real renames are listed, not
 * columns that are merely similar: HostProviderName is not PublisherName. Source: FOCUS specification 1.4, CC-BY-4.0.
 */
import type { FocusVersion } from "./version.js";

interface Rename {
  readonly from: string;
  readonly to: string;
  /** The first version with the new name. */
  readonly since: FocusVersion;
}

export const renames: readonly Rename[] = [
  { from: "AmortizedCost", to: "EffectiveCost", since: "1.0-preview" },
  { from: "ChargeType", to: "ChargeCategory", since: "1.0-preview" },
  { from: "InvoiceIssuer", to: "InvoiceIssuerName", since: "1.0-preview" },
  { from: "Provider", to: "ProviderName", since: "1.0-preview" },
  { from: "Publisher", to: "PublisherName", since: "1.0-preview" },
  { from: "UsageQuantity", to: "ConsumedQuantity", since: "1.0" },
  { from: "UsageUnit", to: "ConsumedUnit", since: "1.0" },
  { from: "Region", to: "RegionName", since: "1.0" },
  { from: "ProviderName", to: "ServiceProviderName", since: "1.3" },
];
