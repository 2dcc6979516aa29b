/** Control totals: what upstreams delivered, and how each of the rows was classified. */
import { Type } from "@sinclair/typebox";
import { rowClasses } from "../../domain/control-totals.js";
import { choiceSchema, countSchema, currency, decimalSchema, textSchema } from "./fields.js";

const sums = {
  rows: countSchema(
    "Rows. A row that is spread over days counts once, on its first day. For costs that are priced by samples: steps, normally hours, of each cost.",
    12,
  ),
  cost: decimalSchema("Sum of the amount that the tenant charges.", "30.5"),
  billed: decimalSchema("Sum of BilledCost.", "30.5"),
  effective: decimalSchema("Sum of EffectiveCost.", "30.5"),
};

const ControlSums = Type.Object(sums, { title: "ControlSums", description: "Rows and their amounts." });

/** Rows of a class, and why they are in it. */
export const classSums = {
  class: choiceSchema(rowClasses, {
    description:
      "What happened to the rows. `charged`: they are on a published day. `zero`: their cost is 0. `outside_window`: their day is not processed. `superseded`: another " +
      "delivery counts for their month. `duplicate`: the same file is read elsewhere. `left_out`: they cannot be charged, or are waiting.",
    examples: ["outside_window"],
  }),
  reason: textSchema(
    "Reason: `before_retention`, `before_lookback`, `within_cutoff`, `day_waits`, `delivery_waits`, or the finding that excluded them; for steps of a cost that is priced by samples also " +
      "`before_first_sample`, `no_sample` (no sample, on a day that is billed), `not_measured` (the cost has too few samples on that day, or none) and `failed` (the query failed); " +
      "empty if the class needs no reason.",
    "before_lookback",
  ),
  ...sums,
};

export const controlTotalsSchema = Type.Array(
  Type.Object(
    {
      currency,
      delivered: ControlSums,
      classes: Type.Array(Type.Object(classSums), {
        description: "Each delivered row is in exactly one class. Classes without rows are left out.",
      }),
      difference: Type.Object(
        { ...sums, rows: Type.Integer({ description: "Rows.", examples: [0] }) },
        { description: "Delivered minus accounted for: all 0 unless something is wrong." },
      ),
      published_only: decimalSchema(
        "Published amounts that no delivered row explains any more, for example because a bill no longer has a line of a day before the window.",
        "0",
      ),
    },
    { title: "CurrencyControl" },
  ),
  { description: "Control totals, one entry for each currency. Empty before the first run." },
);
