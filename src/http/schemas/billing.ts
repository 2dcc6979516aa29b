/** Billing line items. */
import { Type } from "@sinclair/typebox";
import { cloudFields, currency, decimal, type RowFields, resourceNames, rowFields, text } from "./fields.js";

export const BillingLineItem = Type.Object(
  {
    ...rowFields,
    quantity: decimal("Billed quantity, in the unit of the product.", "730"),
    unit_price: decimal("Price of one unit; 0 when several price tiers were merged.", "0.12"),
    total_cost: decimal("Cost of the line, in `currency`; negative for refunds.", "87.6"),
    currency,
    ...cloudFields,
    billed_cost: decimal("Cost on the invoice, if the bill has several costs; otherwise 0.", "87.6"),
    list_cost: decimal("Cost at list prices, if the bill has several costs; otherwise 0.", "120"),
    named_identity: text(
      "Identity that the line names, according to `allocation.identity`; empty if it names none.",
      "payments",
    ),
    granularity: text(
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
