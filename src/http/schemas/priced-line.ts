/** How a bill calculates a line: quantities at their prices, less discounts and credits. */
import { Type } from "@sinclair/typebox";
import { reductionKinds } from "../../query/chargebacks/explain/priced.js";
import { choiceSchema, decimalSchema, nullableText } from "./fields.js";

const Product = Type.Object(
  {
    quantity: decimalSchema("Quantity at this price.", "24"),
    unit: nullableText({
      description: "Unit of the quantity; null when the bill does not name it.",
      examples: ["CKU-hour"],
    }),
    unit_price: decimalSchema("Price of one unit.", "1.375"),
    amount: decimalSchema("`quantity` × `unit_price`.", "33"),
  },
  { title: "BilledProduct" },
);

const Reduction = Type.Object(
  {
    kind: choiceSchema(reductionKinds, {
      description:
        "`discount`: a discount of the vendor. `commitment`: covered by a commitment. `credit`: a credit in the same line. `rounding`: what the " +
        "rounding to 12 decimal places changes.",
      examples: ["discount"],
    }),
    amount: decimalSchema("What is deducted; negative when it is added.", "1.65"),
  },
  { title: "BilledReduction" },
);

export const pricedLine = Type.Object(
  {
    products: Type.Array(Product, { description: "Quantities at their prices." }),
    reductions: Type.Array(Reduction, {
      description: "Discounts and credits, each kind once. Empty if the line has none.",
    }),
  },
  {
    title: "PricedLine",
    description: "The sum of `products` minus the sum of `reductions` is `total_cost`, exactly.",
  },
);
