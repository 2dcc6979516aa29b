/** Conditions of findings that compare columns of a line with each other, on the stored values. */
import { literal } from "../../../../clickhouse/sql-text.js";
import { PRODUCT_TOLERANCE, pairs, parentCategory, priced, unitPrices } from "../../../../focus/index.js";
import type { LineFindingId } from "./findings.js";
import { landingColumns } from "./landing-columns.js";

/**
 * SQL of a column's value, undefined if the file does not have the column. Numbers may be null; a missing text is
 * empty.
 */
export type ValueIn = (column: string) => string | undefined;

const numbers: ReadonlySet<string> = new Set(
  landingColumns.filter(({ kind }) => kind === "cost" || kind === "number").map(({ name }) => name),
);

const objects: ReadonlySet<string> = new Set(
  landingColumns.filter(({ kind }) => kind === "json").map(({ name }) => name),
);

export type LineConditions = Readonly<Partial<Record<LineFindingId, string>>>;

/** Returns the conditions that the file's columns allow. A column that the file does not have is null in each line. */
export function lineConditions(valueIn: ValueIn): LineConditions {
  const has = (...columns: readonly string[]) => columns.every((column) => valueIn(column) !== undefined);
  const text = (column: string) => valueIn(column) ?? "''";
  const number = (column: string) => valueIn(column) ?? "CAST(NULL AS Nullable(Decimal(38, 12)))";
  const isSet = (column: string) => {
    const value = valueIn(column);
    if (value === undefined) return "false";
    if (numbers.has(column)) return `isNotNull(${value})`;
    // An object without keys counts as null.
    return objects.has(column) ? `${value} NOT IN ('', '{}')` : `notEmpty(${value})`;
  };
  const among = (column: string, values: readonly string[]) =>
    `${text(column)} IN (${values.map(literal).join(", ")})`;
  const isZero = (column: string) => `ifNull(${number(column)} = 0, true)`;
  const costs = `NOT (${isZero("BilledCost")} AND ${isZero("EffectiveCost")})`;
  // A float is exact enough for a tolerance of a ten-thousandth, and takes a fraction of the time.
  const float = (column: string) => `toFloat64(${number(column)})`;
  const { share, least } = PRODUCT_TOLERANCE;
  const allowance = (cost: string) => `greatest(abs(${float(cost)}) * ${share}, ${least})`;
  /** Compares absolute amounts. */
  const isBelow = (lower: string, upper: string) =>
    `${number(lower)} != 0 AND abs(${float(upper)}) - abs(${float(lower)}) > ${allowance(upper)}`;
  const isOff = (cost: string, price: string) =>
    `abs(${float(cost)} - ${float(price)} * ${float("PricingQuantity")}) > ${allowance(cost)}`;
  const isCharge = `${among("ChargeCategory", ["Usage", "Purchase"])} AND ${text("ChargeClass")} != 'Correction'`;
  const isCovered = any(
    ["CommitmentDiscountId", "ContractApplied"].map(isSet).concat(`${text("PricingCategory")} = 'Committed'`),
  );
  const present = (columns: readonly string[]) => columns.filter((column) => has(column));
  const products = (
    [
      ["ListCost", "ListUnitPrice"],
      ["ContractedCost", "ContractedUnitPrice"],
    ] as const
  ).filter((columns) => has(...columns, "PricingQuantity"));
  return {
    no_list_cost: `${costs} AND ${isZero("ListCost")} AND NOT ${among("ChargeCategory", ["Tax", "Credit", "Adjustment"])}`,
    list_cost_below_contracted: isBelow("ListCost", "ContractedCost"),
    contracted_cost_below_effective: isBelow("ContractedCost", "EffectiveCost"),
    effective_cost_not_billed: `NOT ${isZero("BilledCost")} AND NOT ${isZero("EffectiveCost")} AND ${number("BilledCost")} != ${number("EffectiveCost")}
      AND (${among("ChargeCategory", ["Tax", "Credit"])} OR (${among("ChargeCategory", ["Usage", "Purchase"])} AND NOT ${isCovered}))`,
    commitment_purchase_costs: `${text("ChargeCategory")} = 'Purchase' AND ${isSet("CommitmentDiscountId")} AND NOT ${isZero("EffectiveCost")}`,
    cost_not_price_times_quantity: any(products.map(([cost, price]) => isOff(cost, price))),
    no_quantity: `${isCharge} AND ${costs} AND NOT ${any(["PricingQuantity", "ConsumedQuantity"].map(isSet))}`,
    negative_unit_price: any(present(unitPrices).map((price) => `${number(price)} < 0`)),
    half_pair: any(
      pairs.filter((pair) => has(...pair)).map(([one, other]) => `${isSet(one)} != ${isSet(other)}`),
    ),
    priced_without_sku_price: has("SkuPriceId")
      ? `NOT ${isSet("SkuPriceId")} AND ${any(present([...priced, "ConsumedQuantity", "CommitmentDiscountQuantity", "SkuPriceDetails"]).map(isSet))}`
      : "false",
    priced_tax: `${text("ChargeCategory")} = 'Tax' AND ${any(present(["SkuId", "SkuPriceId", ...priced]).map(isSet))}`,
    unpriced_charge: `${isCharge} AND ${any(present(["SkuId", "SkuPriceId", ...priced]).map((column) => `NOT (${isSet(column)})`))}`,
    foreign_subcategory: has("ServiceSubcategory", "ServiceCategory")
      ? `${isSet("ServiceCategory")} AND ${parentCategory(text("ServiceSubcategory"))} NOT IN ('', ${text("ServiceCategory")})`
      : "false",
  };
}

/** Returns `false` if there are no conditions. */
export function any(conditions: readonly string[]): string {
  return conditions.length === 0 ? "false" : `(${conditions.map((each) => `(${each})`).join(" OR ")})`;
}
