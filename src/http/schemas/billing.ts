/** Billing line items. */
import { Type } from "@sinclair/typebox";
import {
  cloudFields,
  currency,
  decimalSchema,
  type RowFields,
  resourceNames,
  rowFields,
  textSchema,
} from "./fields.js";

export const billingLineItemSchema = Type.Object(
  {
    ...rowFields,
    quantity: decimalSchema("Billed quantity, in the unit of the product.", "730"),
    unit_price: decimalSchema("Price of one unit; 0 when several price tiers were merged.", "0.12"),
    total_cost: decimalSchema("Cost of the line, in `currency`; negative for refunds.", "87.6"),
    currency,
    ...cloudFields,
    billed_cost: decimalSchema("Cost on the invoice, if the bill has several costs; otherwise 0.", "87.6"),
    effective_cost: decimalSchema("Amortized cost, if the bill has several costs; otherwise 0.", "92.4"),
    list_cost: decimalSchema("Cost at list prices, if the bill has several costs; otherwise 0.", "120"),
    named_identity: textSchema(
      "Identity that the line names, according to `allocation.identity`; empty if it names none.",
      "payments",
    ),
    granularity: textSchema(
      "Length of the billed period: hourly, daily, monthly or a length that the configuration names.",
      "daily",
    ),
    ...resourceNames,
    metadata: Type.Object(
      {},
      {
        description:
          "Other fields of the billed line. `env_id`: the environment, or the sub-account of a FOCUS bill; absent when there is none.",
        additionalProperties: true,
        examples: [{ env_id: "env-42", resource_name: "orders" }],
      },
    ),
  } satisfies RowFields<"billing">,
  { title: "BillingLineItem" },
);
