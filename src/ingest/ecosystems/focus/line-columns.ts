/**
 * Columns of a line that configured rules can name: those of FOCUS by their names, and our own that other bills leave
 * empty.
 */
import { literal } from "../../../clickhouse/sql-text.js";
import type { RuleColumnSource, RuleColumns } from "../../../domain/rule-columns.js";
import { focusColumns } from "../../../focus/index.js";
import { landingColumnOf, landingColumns, otherStandardNames } from "./load/landing-columns.js";

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

/** JSON and times are matched as text. The tags of a line have names of their own, `tag.KEY`. */
const metadataColumns: RuleColumns = Object.fromEntries([
  ...landingColumns.flatMap(({ name, kind }) => {
    if (Object.hasOwn(ownColumns, name) || kind === "tags") return [];
    const value = metadataText(name);
    const isNumber = kind === "number" || kind === "cost";
    return [[name, isNumber ? decimal(`toDecimal128OrZero(${value}, 12)`) : text(value)]];
  }),
  ...otherStandardNames.map((name) => [name, text(metadataText(name))]),
]);

const standardColumns: RuleColumns = { ...ownColumns, ...metadataColumns };

/** Names of earlier versions stand for the columns that replaced them. */
const formerColumns: RuleColumns = Object.fromEntries(
  focusColumns.flatMap(({ name }) => {
    const column = standardColumns[landingColumnOf(name)?.name ?? ""];
    return column === undefined || Object.hasOwn(standardColumns, name) ? [] : [[name, column]];
  }),
);

/** Without the columns that a tenant declares. */
export const standardLineColumns: RuleColumns = {
  ...standardColumns,
  ...formerColumns,
  ...Object.fromEntries(cloudColumns.map((name) => [name, text(name)])),
};

function metadataText(name: string): string {
  return `JSONExtractString(metadata, ${literal(name)})`;
}
