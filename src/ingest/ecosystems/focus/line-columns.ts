/** What rules by configuration can name of a line: the columns of FOCUS by their names, and those of ours that other bills leave empty. */
import type { LineColumnSource, LineColumns } from "../../../config/allocation/line-columns.js";
import { literal } from "../../../store/clickhouse/sql-text.js";
import { landingColumns } from "./load/landing-columns.js";

const text = (sql: string): LineColumnSource => ({ sql, type: "text" });
const decimal = (sql: string): LineColumnSource => ({ sql, type: "decimal" });

const ofCloud = ["charge_category", "service_provider", "account_id", "region_id", "sku_id"];

/** Columns of the bill that are columns of ours, so that the metadata of a line does not repeat them. */
export const ownColumns: LineColumns = {
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

/** Times and JSON are left out: a rule goes by what a line is called, and by what it costs. */
const inMetadata: LineColumns = Object.fromEntries(
  landingColumns.flatMap(({ name, kind }) => {
    if (Object.hasOwn(ownColumns, name)) return [];
    const value = `JSONExtractString(metadata, ${literal(name)})`;
    if (kind === "text" || kind === "long_text") return [[name, text(value)]];
    // The chosen cost is no part of the metadata.
    return kind === "number" ? [[name, decimal(`toDecimal128OrZero(${value}, 12)`)]] : [];
  }),
);

export const lineColumns: LineColumns = {
  ...ownColumns,
  ...inMetadata,
  ...Object.fromEntries(ofCloud.map((name) => [name, text(name)])),
};
