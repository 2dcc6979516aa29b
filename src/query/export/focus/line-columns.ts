/**
 * What each FOCUS column says of a line of the bill, as SQL over one line. A line that came as FOCUS says it itself: `said` is its
 * published metadata. What it leaves open, and every line of another bill, is filled by the rules below, which the reference page of the
 * export lists. Nothing is guessed that would be a fact about money: costs, quantities and prices are those of the bill.
 */
import { literal } from "../../../store/clickhouse/sql-text.js";

/** What a FOCUS line says in a column, null where it says nothing; of other bills always null. */
const said = (name: string) => `nullIf(said[${literal(name)}], '')`;
const saidNumber = (name: string) => `toDecimal128OrNull(said[${literal(name)}], 12)`;
const saidInstant = (name: string) => `parseDateTimeBestEffortOrNull(said[${literal(name)}], 'UTC')`;
const given = (column: string) => `nullIf(CAST(${column} AS String), '')`;
const orElse = (...values: readonly string[]) => `coalesce(${values.join(", ")})`;
/** Of a bill that is not FOCUS, where a price list is what it was priced by. */
const priced = (value: string) => `if(is_focus OR ChargeCategory != 'Usage', NULL, ${value})`;
/** Of a unit, for the quantity of the line. */
const priceOf = (cost: string) =>
  `if(units = 0, toDecimal128(0, 12), toDecimal128OrNull(toString(abs(divideDecimal(toDecimal256(${cost}, 12), toDecimal256(units, 12), 12))), 12))`;
/** Beside a value that is not null. */
const beside = (column: string, value: string) => `if(isNull(${column}), NULL, ${value})`;

const saidTexts = [
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
 * By column, in an order in which each uses only those before it. All but the costs and dates may be null. The five `Allocated*` columns
 * are not of the line.
 */
export const lineColumns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(saidTexts.map((name) => [name, said(name)])),
  BilledCost: "if(is_focus, billed, total)",
  BillingCurrency: "CAST(currency AS String)",
  BillingAccountId: orElse(given("account"), "CAST(tenant_id AS String)"),
  BillingAccountType: orElse(said("BillingAccountType"), "'Billing Account'"),
  BillingPeriodStart: orElse(
    saidInstant("BillingPeriodStart"),
    "toDateTime(toStartOfMonth(timestamp, 'UTC'), 'UTC')",
  ),
  BillingPeriodEnd: orElse(
    saidInstant("BillingPeriodEnd"),
    "toDateTime(addMonths(toStartOfMonth(timestamp, 'UTC'), 1), 'UTC')",
  ),
  ChargeCategory: orElse(given("category"), "if(total < 0, 'Credit', 'Usage')"),
  ChargeDescription: orElse(said("ChargeDescription"), given("note"), given("product_type")),
  ChargeFrequency: orElse(said("ChargeFrequency"), "if(ChargeCategory = 'Usage', 'Usage-Based', 'One-Time')"),
  ChargePeriodStart: `if(${isSeveralDays}, timestamp, ${orElse("said_start", "timestamp")})`,
  ChargePeriodEnd: `multiIf(${isSeveralDays}, least(assumeNotNull(said_end), ${nextDay}), isNotNull(said_end), assumeNotNull(said_end), granularity = 'hourly', timestamp + 3600, ${nextDay})`,
  CommitmentDiscountQuantity: saidNumber("CommitmentDiscountQuantity"),
  EffectiveCost: `if(is_focus, ${orElse(saidNumber("EffectiveCost"), "total")}, total)`,
  ContractedCost: `if(is_focus, ${orElse(saidNumber("ContractedCost"), "EffectiveCost")}, total)`,
  ListCost: "listed",
  ServiceProviderName: orElse(
    given("provider"),
    "if(ecosystem = 'confluent_cloud', 'Confluent', CAST(tenant_id AS String))",
  ),
  HostProviderName: orElse(said("HostProviderName"), "ServiceProviderName"),
  InvoiceIssuerName: orElse(said("InvoiceIssuerName"), "ServiceProviderName"),
  SkuId: orElse(given("sku"), priced("CAST(product_type AS String)")),
  SkuMeter: orElse(said("SkuMeter"), priced("CAST(product_type AS String)")),
  SkuPriceId: orElse(said("SkuPriceId"), priced("CAST(product_type AS String)")),
  ConsumedQuantity: `if(is_focus, ${saidNumber("ConsumedQuantity")}, ${priced("units")})`,
  ConsumedUnit: orElse(said("ConsumedUnit"), beside("ConsumedQuantity", "unit")),
  PricingQuantity: `if(is_focus, ${saidNumber("PricingQuantity")}, ${priced("units")})`,
  PricingUnit: orElse(said("PricingUnit"), beside("PricingQuantity", "unit")),
  PricingCategory: orElse(said("PricingCategory"), priced("'Standard'")),
  ContractedUnitPrice: `if(is_focus, ${saidNumber("ContractedUnitPrice")}, ${priced(`if(isNull(unit_price) OR listed != total, ${priceOf("total")}, unit_price)`)})`,
  ListUnitPrice: `if(is_focus, ${saidNumber("ListUnitPrice")}, ${priced(`coalesce(unit_price, ${priceOf("listed")})`)})`,
  PricingCurrency: orElse(said("PricingCurrency"), "BillingCurrency"),
  PricingCurrencyContractedUnitPrice: orElse(
    saidNumber("PricingCurrencyContractedUnitPrice"),
    "if(PricingCurrency = BillingCurrency, ContractedUnitPrice, NULL)",
  ),
  PricingCurrencyEffectiveCost: orElse(
    saidNumber("PricingCurrencyEffectiveCost"),
    "if(PricingCurrency = BillingCurrency, EffectiveCost, NULL)",
  ),
  PricingCurrencyListUnitPrice: orElse(
    saidNumber("PricingCurrencyListUnitPrice"),
    "if(PricingCurrency = BillingCurrency, ListUnitPrice, NULL)",
  ),
  RegionId: given("region"),
  RegionName: orElse(said("RegionName"), "RegionId"),
  ResourceId: `if(is_focus, ${said("ResourceId")}, ${given("resource_id")})`,
  ResourceName: `if(is_focus, ${said("ResourceName")}, ${given("resource_note")})`,
  ResourceType: orElse(said("ResourceType"), beside("ResourceId", "'Resource'")),
  ServiceCategory: `if(is_focus, ${orElse(given("product_category"), "'Other'")}, if(ecosystem IN ('confluent_cloud', 'self_managed_kafka'), 'Integration', 'Other'))`,
  ServiceName: `if(is_focus OR product_category = '', CAST(product_type AS String), CAST(product_category AS String))`,
  ServiceSubcategory: orElse(
    said("ServiceSubcategory"),
    "if(is_focus OR ServiceCategory = 'Other', concat('Other (', ServiceCategory, ')'), 'Messaging')",
  ),
  SubAccountId: given("env_id"),
  SubAccountName: orElse(said("SubAccountName"), "SubAccountId"),
  SubAccountType: orElse(
    said("SubAccountType"),
    beside("SubAccountId", "if(is_focus, 'Sub Account', 'Environment')"),
  ),
  Tags: "if(empty(tags), NULL, toJSONString(tags))",
};

/** The costs and quantities that the rows of a split add up to, in all. */
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

/** Names that 1.3 replaced. */
export const formerColumns: Readonly<Record<string, string>> = {
  ProviderName: "ServiceProviderName",
  PublisherName: orElse(said("PublisherName"), "ServiceProviderName"),
};
