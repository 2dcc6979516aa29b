/** The comparison of the bill with its chargebacks. */
import { Type } from "@sinclair/typebox";
import { controlTotalsSchema } from "./control-totals.js";
import { countSchema, currency, daySchema, decimalSchema } from "./fields.js";

const reconciled = {
  currency,
  billing_amount: decimalSchema("Sum of the billed costs.", "100"),
  allocated_amount: decimalSchema(
    "Sum of the chargebacks of all identities other than `UNALLOCATED`.",
    "93.5",
  ),
  unallocated_amount: decimalSchema("Sum of the chargebacks of `UNALLOCATED`.", "6.5"),
  difference: decimalSchema(
    "Charged minus billed: 0 unless the store has lost days that are not recalculated yet.",
    "0",
  ),
  chargeback_rows: countSchema("Chargeback rows.", 3560),
  billing_lines: Type.Optional(
    countSchema(
      "Billing lines; lines that are equal but for their amounts count once. Only with `by_line`.",
      40,
    ),
  ),
  lines_off: Type.Optional(
    countSchema(
      "Lines whose chargebacks do not add up to them; 0 unless something is wrong. Only with `by_line`.",
      0,
    ),
  ),
};

export const reconciliationParameters = {
  by_line: Type.Boolean({
    description:
      "Also compare every billing line with its own chargebacks, so that differences that cancel out are found. `false` only compares " +
      "the sums of each day, which is much faster.",
    default: true,
  }),
};

export const reconciliationSchema = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        date: daySchema("UTC day."),
        ...reconciled,
        provisional: Type.Boolean({
          description: "The data of the day is still incomplete: its chargebacks may change.",
          examples: [false],
        }),
      }),
      {
        description:
          "One entry for each day that was billed or charged, and currency; by day, then by currency.",
      },
    ),
    totals: Type.Array(Type.Object(reconciled), {
      description: "The same over all days, one entry for each currency, by its code.",
    }),
    control: controlTotalsSchema,
  },
  { title: "Reconciliation", description: "Bill and chargebacks, by day and over all days." },
);
