/** Costs that nobody pays, with what is missing. */
import { Type } from "@sinclair/typebox";
import { issueDetails } from "../../config/allocation-rule.js";
import { gapReasons } from "../../query/rules/allocation-gaps.js";
import { choice, cloudFields, count, currency, day, decimal, rowFields, text } from "./fields.js";

const Lack = Type.Object({
  tag: Type.Optional(text("Key of the tag that the source reads.", "team")),
  column: Type.Optional(text("Column that the source reads.", "env_id")),
  map: Type.Optional(text("Map that the source looks the value up in, as configured.", "./accounts.csv")),
  pattern: Type.Optional(text("Regular expression of the source.", "^team-(?<identity>[a-z]+)")),
  reason: choice(gapReasons, {
    description:
      "`no_tag`: the lines lack the tag. `no_value`: the tag or column is empty. `not_in_map`, `no_match`: the map or pattern does not know the " +
      "value. `no_identity`: what the source gives cannot be an identity. `now_known`: the source gives an identity by now, and the days were calculated before.",
    examples: ["not_in_map"],
  }),
  ignore_case: Type.Optional(
    Type.Boolean({
      description: "Whether the source reads the tag, or looks up values, in any case.",
      examples: [true],
    }),
  ),
  value: text("Value of the tag or column; empty when there is none.", "123456789012"),
  similar_tag: Type.Optional(
    text(
      "Key of a tag that the lines have and that differs from `tag` in nothing but its case: perhaps the one that is meant, and `ignore_case: true` reads it. Only of `no_tag` and `no_value`.",
      "Team",
    ),
  ),
  identity: Type.Optional(text("Identity that the source gives by now; only of `now_known`.", "payments")),
});

export const WorklistItem = Type.Object(
  {
    currency,
    product_type: rowFields.product_type,
    account_id: cloudFields.account_id,
    environment_id: text("Environment or sub account of the lines; empty when there is none.", "env-42"),
    rule: cloudFields.rule,
    allocation_detail: choice(issueDetails, {
      description: "Why nobody pays; see allocation issues.",
      examples: ["no_identity_on_line"],
    }),
    named_identity: text(
      "Whom the lines name; nobody pays although they do, because their rule does not go by it.",
      "",
    ),
    lacks: Type.Array(Lack, {
      description:
        "What each identity source lacks, in their order: an identity by one of them would name somebody. Empty where the lines name " +
        "somebody, and where no sources are configured.",
    }),
    line_count: count("Lines of the bill; lines that are equal but for their amounts count once.", 31),
    resource_count: count("Resources of these lines.", 4),
    example_resource_id: text("Resource of the largest line.", "i-0abc"),
    example_date: day("UTC day of the largest line."),
    amount: decimal("Sum of what nobody pays of these lines.", "412.5"),
  },
  { title: "WorklistItem" },
);
