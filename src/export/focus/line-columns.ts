/**
 * The value of each FOCUS column for a billing line, as SQL over one line. A line of a FOCUS bill has its own values,
 * in its published metadata `said`. The rules below fill what it leaves out, and every line of another bill. The
 * export's reference page lists them. Facts about money are never guessed: costs, quantities and prices are those of
 * the bill.
 */
import { literal } from "../../clickhouse/sql-text.js";

/** A FOCUS line's value of a column, null if missing; always null for other bills. */
const metadataText = (name: string) => `nullIf(said[${literal(name)}], '')`;
const metadataNumber = (name: string) => `toDecimal128OrNull(said[${literal(name)}], 12)`;
const metadataInstant = (name: string) => `parseDateTimeBestEffortOrNull(said[${literal(name)}], 'UTC')`;
const textOrNull = (column: string) => `nullIf(CAST(${column} AS String), '')`;
const orElse = (...values: readonly string[]) => `coalesce(${values.join(", ")})`;
/** The value for usage of a bill that is not FOCUS, because a price list has priced it. Null for all other lines. */
const ifPriced = (value: string) => `if(is_focus OR ChargeCategory != 'Usage', NULL, ${value})`;
/** The price per unit, from a cost and the line's quantity. */
const unitPrice = (cost: string) =>
  `if(units = 0, toDecimal128(0, 12), toDecimal128OrNull(toString(abs(divideDecimal(toDecimal256(${cost}, 12), toDecimal256(units, 12), 12))), 12))`;
/** Null if the column is null, else the value. */
const ifPresent = (column: string, value: string) => `if(isNull(${column}), NULL, ${value})`;

const metadataTexts = [
  "AvailabilityZone",
  "BillingAccountName",
  "CapacityReservationId",
  "CapacityReservationStatus",
  "ChargeClass",
  "CommitmentDiscountCategory",
  "CommitmentDiscountId",
  "CommitmentDiscountName",
  "CommitmentDiscountStatus",
  "CommitmentDiscountType",
  "CommitmentDiscountUnit",
  "CommitmentProgramEligibilityDetails",
  "ContractApplied",
  "InvoiceDetailId",
  "InvoiceId",
  "SkuPriceDetails",
];

const isSeveralDays =
  "is_focus AND granularity = 'daily' AND isNotNull(said_end) AND (timestamp != ifNull(said_start, timestamp) OR dateDiff('second', timestamp, said_end) > 86400)";
const nextDay = "toDateTime(toDate(timestamp) + 1, 'UTC')";

/**
 * SQL by column. Each column uses only columns before it. All but costs and dates may be null. The five `Allocated*`
 * columns are missing, because they belong to a row and not to its line.
 */
export const exportedLineColumns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(metadataTexts.map((name) => [name, metadataText(name)])),
  BilledCost: "if(is_focus, billed, total)",
  BillingCurrency: "CAST(currency AS String)",
  BillingAccountId: orElse(textOrNull("account"), "CAST(tenant_id AS String)"),
  BillingAccountType: orElse(metadataText("BillingAccountType"), "'Billing Account'"),
  BillingPeriodStart: orElse(
    metadataInstant("BillingPeriodStart"),
    "toDateTime(toStartOfMonth(timestamp, 'UTC'), 'UTC')",
  ),
  BillingPeriodEnd: orElse(
    metadataInstant("BillingPeriodEnd"),
    "toDateTime(addMonths(toStartOfMonth(timestamp, 'UTC'), 1), 'UTC')",
  ),
  ChargeCategory: orElse(textOrNull("category"), "if(total < 0, 'Credit', 'Usage')"),
  ChargeDescription: orElse(
    metadataText("ChargeDescription"),
    textOrNull("note"),
    textOrNull("product_type"),
  ),
  ChargeFrequency: orElse(
    metadataText("ChargeFrequency"),
    "if(ChargeCategory = 'Usage', 'Usage-Based', 'One-Time')",
  ),
  ChargePeriodStart: `if(${isSeveralDays}, timestamp, ${orElse("said_start", "timestamp")})`,
  ChargePeriodEnd: `multiIf(${isSeveralDays}, least(assumeNotNull(said_end), ${nextDay}), isNotNull(said_end), assumeNotNull(said_end), granularity = 'hourly', timestamp + 3600, ${nextDay})`,
  CommitmentDiscountQuantity: metadataNumber("CommitmentDiscountQuantity"),
  EffectiveCost: `if(is_focus, ${orElse(metadataNumber("EffectiveCost"), "total")}, total)`,
  ContractedCost: `if(is_focus, ${orElse(metadataNumber("ContractedCost"), "EffectiveCost")}, total)`,
  ListCost: "listed",
  ServiceProviderName: orElse(
    textOrNull("provider"),
    "if(ecosystem = 'confluent_cloud', 'Confluent', CAST(tenant_id AS String))",
  ),
  HostProviderName: orElse(metadataText("HostProviderName"), "ServiceProviderName"),
  InvoiceIssuerName: orElse(metadataText("InvoiceIssuerName"), "ServiceProviderName"),
  SkuId: orElse(textOrNull("sku"), ifPriced("CAST(product_type AS String)")),
  SkuMeter: orElse(metadataText("SkuMeter"), ifPriced("CAST(product_type AS String)")),
  SkuPriceId: orElse(metadataText("SkuPriceId"), ifPriced("CAST(product_type AS String)")),
  ConsumedQuantity: `if(is_focus, ${metadataNumber("ConsumedQuantity")}, ${ifPriced("units")})`,
  ConsumedUnit: orElse(metadataText("ConsumedUnit"), ifPresent("ConsumedQuantity", "unit")),
  PricingQuantity: `if(is_focus, ${metadataNumber("PricingQuantity")}, ${ifPriced("units")})`,
  PricingUnit: orElse(metadataText("PricingUnit"), ifPresent("PricingQuantity", "unit")),
  PricingCategory: orElse(metadataText("PricingCategory"), ifPriced("'Standard'")),
  ContractedUnitPrice: `if(is_focus, ${metadataNumber("ContractedUnitPrice")}, ${ifPriced(`if(isNull(unit_price) OR listed != total, ${unitPrice("total")}, unit_price)`)})`,
  ListUnitPrice: `if(is_focus, ${metadataNumber("ListUnitPrice")}, ${ifPriced(`coalesce(unit_price, ${unitPrice("listed")})`)})`,
  PricingCurrency: orElse(metadataText("PricingCurrency"), "BillingCurrency"),
  PricingCurrencyContractedUnitPrice: orElse(
    metadataNumber("PricingCurrencyContractedUnitPrice"),
    "if(PricingCurrency = BillingCurrency, ContractedUnitPrice, NULL)",
  ),
  PricingCurrencyEffectiveCost: orElse(
    metadataNumber("PricingCurrencyEffectiveCost"),
    "if(PricingCurrency = BillingCurrency, EffectiveCost, NULL)",
  ),
  PricingCurrencyListUnitPrice: orElse(
    metadataNumber("PricingCurrencyListUnitPrice"),
    "if(PricingCurrency = BillingCurrency, ListUnitPrice, NULL)",
  ),
  RegionId: textOrNull("region"),
  RegionName: orElse(metadataText("RegionName"), "RegionId"),
  ResourceId: `if(is_focus, ${metadataText("ResourceId")}, ${textOrNull("resource_id")})`,
  ResourceName: `if(is_focus, ${metadataText("ResourceName")}, ${textOrNull("resource_note")})`,
  ResourceType: orElse(metadataText("ResourceType"), ifPresent("ResourceId", "'Resource'")),
  ServiceCategory: `if(is_focus, ${orElse(textOrNull("product_category"), "'Other'")}, if(ecosystem IN ('confluent_cloud', 'self_managed_kafka'), 'Integration', 'Other'))`,
  ServiceName: `if(is_focus OR product_category = '', CAST(product_type AS String), CAST(product_category AS String))`,
  ServiceSubcategory: orElse(
    metadataText("ServiceSubcategory"),
    "if(is_focus OR ServiceCategory = 'Other', concat('Other (', ServiceCategory, ')'), 'Messaging')",
  ),
  SubAccountId: textOrNull("env_id"),
  SubAccountName: orElse(metadataText("SubAccountName"), "SubAccountId"),
  SubAccountType: orElse(
    metadataText("SubAccountType"),
    ifPresent("SubAccountId", "if(is_focus, 'Sub Account', 'Environment')"),
  ),
  Tags: "if(empty(tags), NULL, toJSONString(tags))",
};

/** Costs and quantities whose sum over the rows of a split is the line's value. */
export const summable: readonly string[] = [
  "BilledCost",
  "CommitmentDiscountQuantity",
  "ConsumedQuantity",
  "ContractedCost",
  "EffectiveCost",
  "ListCost",
  "PricingCurrencyEffectiveCost",
  "PricingQuantity",
];

/** Names that FOCUS 1.3 replaced. */
export const formerColumns: Readonly<Record<string, string>> = {
  ProviderName: "ServiceProviderName",
  PublisherName: orElse(metadataText("PublisherName"), "ServiceProviderName"),
};
