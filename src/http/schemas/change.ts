/** Why a sum of chargebacks changed. */
import { Type } from "@sinclair/typebox";
import { groupBy, groupValues } from "./aggregate.js";
import { comparedDates } from "./breakdown.js";
import { countSchema, currency, decimalSchema, nullableText } from "./fields.js";

export const changeParameters = {
  group_by: { ...groupBy(3), default: ["product_type", "resource_id"] },
  limit: Type.Integer({
    description: "Groups of each currency, those with the largest change; the rest is in `others`.",
    minimum: 1,
    maximum: 1000,
    default: 10,
  }),
  ...comparedDates,
};

const sums = {
  currency,
  amount: decimalSchema("Sum of all amounts of the period.", "150"),
  previous_amount: decimalSchema("Sum of all amounts of the previous period.", "30"),
  change: decimalSchema("`amount` less `previous_amount`.", "120"),
  causes: Type.Object(
    {
      quantity: decimalSchema("The bill has another quantity, at the price and the share of before.", "80"),
      price: decimalSchema(
        "The bill has another cost for each unit, discounts included, at the share of before.",
        "0",
      ),
      share: decimalSchema("Another part of the bill's cost is charged.", "40"),
      new: decimalSchema("The previous bill did not have the resource and product.", "0"),
      gone: decimalSchema("The bill no longer has the resource and product.", "0"),
      other: decimalSchema(
        "The rest: the bill has no quantity that can be compared, such as for taxes and credits.",
        "0",
      ),
    },
    { description: "Causes of the change. They add up to it exactly." },
  ),
};

const groupCount = { group_count: countSchema("Number of groups.", 40) };

const bill = Type.Unsafe<{
  unit: string | null;
  quantity: string;
  previous_quantity: string;
  cost: string;
  previous_cost: string;
} | null>({
  type: ["object", "null"],
  description:
    "What the bill has for the group, whoever is charged for it. Null if the group has several resources, products or SKUs, or if the bill has none.",
  properties: {
    unit: nullableText({
      description: "Unit of the quantities; null if the bill does not state it, or states several.",
      examples: ["GB"],
    }),
    quantity: decimalSchema("Quantity of the period.", "720"),
    previous_quantity: decimalSchema("Quantity of the previous period.", "600"),
    cost: decimalSchema("Cost of the period.", "300"),
    previous_cost: decimalSchema("Cost of the previous period.", "250"),
  },
  required: ["unit", "quantity", "previous_quantity", "cost", "previous_cost"],
});

export const changeSchema = Type.Object(
  {
    groups: Type.Array(Type.Object({ ...groupValues, ...sums, bill }), {
      description:
        "The groups of each currency that changed most, by currency, the largest change first, whatever its sign.",
    }),
    others: Type.Array(Type.Object({ ...sums, ...groupCount }), {
      description: "All groups beyond `limit` together, one entry for each currency that has some.",
    }),
    totals: Type.Array(Type.Object({ ...sums, ...groupCount }), {
      description:
        "All groups together, one entry for each currency, by its code. `groups` and `others` add up to it exactly.",
    }),
  },
  { title: "Change", description: "Why sums of chargebacks changed." },
);
