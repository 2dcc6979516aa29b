/** Checks between columns of the same row. */
import { identifier } from "../../clickhouse/sql-text.js";
import { PRODUCT_TOLERANCE, pairs, parentCategory, priced } from "../column-relations.js";
import { type Check, type CheckRule, rulesOf } from "./check-types.js";
import { decimalSql, factor, instantSql, is, isNull, isSet } from "./sql.js";

const purchaseOrUsage = `ChargeCategory IN ('Usage', 'Purchase') AND NOT ${is("ChargeClass", "Correction")}`;

const withoutId = [
  ["ResourceId", "ResourceName"],
  ["CommitmentDiscountId", "CommitmentDiscountName"],
  ["CommitmentDiscountId", "CommitmentDiscountStatus"],
  ["SkuId", "SkuMeter"],
] as const;

function product(cost: string, price: string): CheckRule {
  const off = `abs(${factor(cost)} - ${factor(price)} * ${factor("PricingQuantity")})`;
  const { share, least } = PRODUCT_TOLERANCE;
  const allowed = `greatest(abs(${factor(cost)}) * toDecimal256('${share}', 4), toDecimal256('${least}', 18))`;
  return {
    uses: [cost, price, "PricingQuantity"],
    column: cost,
    violated: `${off} > ${allowed}`,
    value: `concat(${identifier(cost)}, ' is not ', ${identifier(price)}, ' × ', PricingQuantity)`,
  };
}

function order(from: string, to: string): CheckRule {
  return {
    uses: [from, to],
    column: to,
    violated: `${instantSql(to)} <= ${instantSql(from)}`,
    value: `concat(${identifier(from)}, ' to ', ${identifier(to)})`,
  };
}

export const rowChecks: readonly Check[] = [
  {
    id: "period-order",
    level: "error",
    kind: "rows",
    what: "The period does not end after its start.",
    conditions: rulesOf([
      order("BillingPeriodStart", "BillingPeriodEnd"),
      order("ChargePeriodStart", "ChargePeriodEnd"),
    ]),
  },
  {
    id: "cost-product",
    level: "warning",
    kind: "rows",
    what: "The cost is not unit price × PricingQuantity, by more than 0.01 % of the cost and 0.000001.",
    conditions: rulesOf([
      product("ListCost", "ListUnitPrice"),
      product("ContractedCost", "ContractedUnitPrice"),
    ]),
  },
  {
    id: "effective-cost",
    level: "error",
    kind: "rows",
    what: "EffectiveCost of a tax or a credit is not its BilledCost, and neither of them is 0.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "BilledCost", "EffectiveCost"],
        column: "EffectiveCost",
        violated: `ChargeCategory IN ('Tax', 'Credit') AND ${decimalSql("BilledCost")} != ${decimalSql("EffectiveCost")} AND ${decimalSql("BilledCost")} != 0 AND ${decimalSql("EffectiveCost")} != 0`,
        value: "concat(EffectiveCost, ' is not ', BilledCost)",
      },
    ]),
  },
  {
    id: "purchase-frequency",
    level: "error",
    kind: "rows",
    what: "A purchase is not usage-based.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "ChargeFrequency"],
        column: "ChargeFrequency",
        violated: `ChargeCategory = 'Purchase' AND ChargeFrequency = 'Usage-Based'`,
      },
    ]),
  },
  {
    id: "service-subcategory",
    level: "error",
    kind: "rows",
    what: "ServiceSubcategory belongs to another ServiceCategory.",
    conditions: rulesOf([
      {
        uses: ["ServiceCategory", "ServiceSubcategory"],
        column: "ServiceSubcategory",
        violated: `${parentCategory("assumeNotNull(ServiceSubcategory)")} NOT IN ('', ServiceCategory)`,
        value: "concat(ServiceSubcategory, ' in ', ServiceCategory)",
      },
    ]),
  },
  {
    id: "pair-null",
    level: "error",
    kind: "rows",
    what: "One of two columns that must be null together is null, and the other is not.",
    conditions: rulesOf(
      pairs.map(([first, second]) => ({
        uses: [first, second],
        column: second,
        violated: `${isNull(first)} != ${isNull(second)}`,
        value: `if(${isNull(second)}, concat('null beside ${first} ', ${identifier(first)}), concat(${identifier(second)}, ' beside ${first} null'))`,
      })),
    ),
  },
  {
    id: "value-without-id",
    level: "error",
    kind: "rows",
    what: "The value says more about something whose id is null.",
    conditions: rulesOf(
      withoutId.map(([id, other]) => ({
        uses: [id, other],
        column: other,
        violated: `${isNull(id)} AND ${isSet(other)}`,
      })),
    ),
  },
  {
    id: "sku-price-null",
    level: "error",
    kind: "rows",
    what: "SkuPriceId is null, and therefore this column has to be null.",
    conditions: rulesOf(
      [...priced, "ConsumedQuantity", "CommitmentDiscountQuantity", "SkuPriceDetails"].map((column) => ({
        uses: ["SkuPriceId", column],
        column,
        violated: `isNull(SkuPriceId) AND ${isSet(column)}`,
      })),
    ),
  },
  {
    id: "tax-null",
    level: "error",
    kind: "rows",
    what: "A tax has no SKU, price or priced quantity: the column has to be null.",
    conditions: rulesOf(
      ["SkuId", "SkuPriceId", ...priced].map((column) => ({
        uses: ["ChargeCategory", column],
        column,
        violated: `ChargeCategory = 'Tax' AND ${isSet(column)}`,
      })),
    ),
  },
  {
    id: "usage-not-null",
    level: "error",
    kind: "rows",
    what: "Usage or a purchase that is no correction has a SKU, prices and a priced quantity: the column must not be null.",
    conditions: rulesOf(
      ["SkuId", "SkuPriceId", ...priced].map((column) => ({
        uses: ["ChargeCategory", "ChargeClass", column],
        column,
        violated: `${purchaseOrUsage} AND ${isNull(column)}`,
      })),
    ),
  },
  {
    id: "consumed-null",
    level: "error",
    kind: "rows",
    what: "ConsumedQuantity has a value on a charge that is not usage, or on the unused part of a commitment.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "ConsumedQuantity"],
        column: "ConsumedQuantity",
        violated: `${isSet("ConsumedQuantity")} AND ChargeCategory != 'Usage'`,
      },
      {
        uses: ["ChargeCategory", "ConsumedQuantity", "CommitmentDiscountStatus"],
        column: "ConsumedQuantity",
        violated: `${isSet("ConsumedQuantity")} AND ChargeCategory = 'Usage' AND CommitmentDiscountStatus = 'Unused'`,
      },
    ]),
  },
  {
    id: "consumed-not-null",
    level: "error",
    kind: "rows",
    what: "ConsumedQuantity is null on usage that has a SkuPriceId, is no correction and is not the unused part of a commitment.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "ChargeClass", "CommitmentDiscountStatus", "SkuPriceId", "ConsumedQuantity"],
        column: "ConsumedQuantity",
        violated: `ChargeCategory = 'Usage' AND NOT ${is("ChargeClass", "Correction")} AND NOT ${is("CommitmentDiscountStatus", "Unused")} AND isNotNull(SkuPriceId) AND isNull(ConsumedQuantity)`,
      },
    ]),
  },
  {
    id: "commitment-status",
    level: "error",
    kind: "rows",
    what: "CommitmentDiscountStatus is null on usage that a commitment covers.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "CommitmentDiscountId", "CommitmentDiscountStatus"],
        column: "CommitmentDiscountStatus",
        violated: `ChargeCategory = 'Usage' AND isNotNull(CommitmentDiscountId) AND isNull(CommitmentDiscountStatus)`,
      },
    ]),
  },
  {
    id: "commitment-quantity",
    level: "error",
    kind: "rows",
    what: "CommitmentDiscountQuantity is null on usage or a purchase of a commitment, or has a value without one.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "ChargeClass", "CommitmentDiscountId", "CommitmentDiscountQuantity"],
        column: "CommitmentDiscountQuantity",
        violated: `(${purchaseOrUsage} AND isNotNull(CommitmentDiscountId) AND isNull(CommitmentDiscountQuantity)) OR (isNull(CommitmentDiscountId) AND isNotNull(CommitmentDiscountQuantity))`,
      },
    ]),
  },
  {
    id: "commitment-resource",
    level: "warning",
    kind: "rows",
    what: "On the unused part of a commitment ResourceId is not CommitmentDiscountId.",
    conditions: rulesOf([
      {
        uses: ["CommitmentDiscountId", "CommitmentDiscountStatus", "ResourceId"],
        column: "ResourceId",
        violated: `CommitmentDiscountStatus = 'Unused' AND ifNull(ResourceId != CommitmentDiscountId, isNotNull(CommitmentDiscountId))`,
      },
    ]),
  },
  {
    id: "capacity-status",
    level: "error",
    kind: "rows",
    what: "CapacityReservationStatus is null on usage that has a CapacityReservationId.",
    conditions: rulesOf([
      {
        uses: ["ChargeCategory", "CapacityReservationId", "CapacityReservationStatus"],
        column: "CapacityReservationStatus",
        violated: `ChargeCategory = 'Usage' AND isNotNull(CapacityReservationId) AND isNull(CapacityReservationStatus)`,
      },
    ]),
  },
];
