/**
 * Columns of a line that configured rules can name: those of FOCUS by their names, and our own that other bills leave
 * empty.
 */
import { literal } from "../../../clickhouse/sql-text.js";
import type { RuleColumnSource, RuleColumns } from "../../../domain/rule-columns.js";
import { landingColumns } from "./load/landing-columns.js";

const text = (sql: string): RuleColumnSource => ({ sql, type: "text" });
const decimal = (sql: string): RuleColumnSource => ({ sql, type: "decimal" });

const cloudColumns = ["charge_category", "service_provider", "account_id", "region_id", "sku_id"];

/** Columns of the bill that have a column of ours, so the metadata of a line does not repeat them. */
export const ownColumns: RuleColumns = {
  BilledCost: decimal("billed_cost"),
  ListCost: decimal("list_cost"),
  BillingCurrency: text("currency"),
  ChargeCategory: text("charge_category"),
  ServiceCategory: text("product_category"),
  ServiceName: text("product_type"),
  ServiceProviderName: text("service_provider"),
  BillingAccountId: text("account_id"),
  SubAccountId: text("env_id"),
  RegionId: text("region_id"),
  SkuId: text("sku_id"),
};

/** Without times and JSON: a rule matches the names and the costs of a line. */
const metadataColumns: RuleColumns = Object.fromEntries(
  landingColumns.flatMap(({ name, kind }) => {
    if (Object.hasOwn(ownColumns, name)) return [];
    const value = `JSONExtractString(metadata, ${literal(name)})`;
    if (kind === "text" || kind === "long_text") return [[name, text(value)]];
    // The charged cost is not part of the metadata.
    return kind === "number" ? [[name, decimal(`toDecimal128OrZero(${value}, 12)`)]] : [];
  }),
);

export const focusLineColumns: RuleColumns = {
  ...ownColumns,
  ...metadataColumns,
  ...Object.fromEntries(cloudColumns.map((name) => [name, text(name)])),
};
