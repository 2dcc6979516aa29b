/** Relations between columns of a line. Source: FOCUS specification 1.4, CC-BY-4.0. */
import { literal } from "../clickhouse/sql-text.js";
import { serviceCategories } from "./service-categories.js";

/** Tolerance between a cost and price × quantity: 0.01 % of the cost, and at least 0.000001. */
export const PRODUCT_TOLERANCE = { share: "0.0001", least: "0.000001" };

export const unitPrices = [
  "ListUnitPrice",
  "ContractedUnitPrice",
  "PricingCurrencyListUnitPrice",
  "PricingCurrencyContractedUnitPrice",
] as const;

/** Columns that only charges with a list price have. */
export const priced = ["PricingQuantity", "PricingCategory", ...unitPrices] as const;

/** Pairs of columns that are null together. The first one decides. */
export const pairs = [
  ["ConsumedQuantity", "ConsumedUnit"],
  ["PricingQuantity", "PricingUnit"],
  ["CommitmentDiscountQuantity", "CommitmentDiscountUnit"],
  ["RegionId", "RegionName"],
  ["SubAccountId", "SubAccountName"],
  ["SubAccountId", "SubAccountType"],
  ["CommitmentDiscountId", "CommitmentDiscountCategory"],
  ["CommitmentDiscountId", "CommitmentDiscountType"],
  ["ResourceId", "ResourceType"],
] as const;

const subcategories = Object.entries(serviceCategories).flatMap(([category, names]) =>
  names.map((name) => ({ name, category })),
);

/** SQL of the ServiceCategory of a ServiceSubcategory; empty if the standard does not have it. */
export function parentCategory(subcategory: string): string {
  const names = subcategories.map(({ name }) => literal(name)).join(", ");
  const categories = subcategories.map(({ category }) => literal(category)).join(", ");
  return `transform(${subcategory}, [${names}], [${categories}], '')`;
}
