/** Parameters and fields of breakdowns: of chargebacks and of topics. */
import { Type } from "@sinclair/typebox";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { countSchema, decimalSchema, textSchema } from "./fields.js";

export const groupLimit = Type.Integer({
  description: "Groups of each currency; the rest is in `others`.",
  minimum: 1,
  maximum: 1000,
  default: 10,
});

export const groupSearch = Type.Optional(
  Type.String({
    description:
      "Only groups with a value or a name that contains this text, case-insensitively. The totals are then those of the matching groups.",
    minLength: 1,
    maxLength: LONGEST_ID,
    examples: ["gateway"],
  }),
);

export const timeBucketLabels = Type.Array(textSchema("Label, as in the sums by time.", "2026-01-01"), {
  description: "Buckets that have rows, in the order of time; empty without `time_bucket`.",
  examples: [["2026-01-01", "2026-01-02", "2026-01-03"]],
});

export const overTime = {
  amounts: Type.Optional(
    Type.Array(decimalSchema("Sum of a time bucket.", "1"), {
      description: "One sum for each of `time_buckets`; only with `time_bucket`.",
      examples: [["1", "0", "29"]],
    }),
  ),
};

export const groupCount = { group_count: countSchema("Number of groups.", 40) };

export const provisionalGroup = Type.Boolean({
  description: "Some rows belong to a day whose data is still incomplete: they may change.",
  examples: [false],
});
