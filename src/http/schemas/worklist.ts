/** Unallocated costs, and what is missing to allocate them. */
import { Type } from "@sinclair/typebox";
import { issueDetails } from "../../domain/allocation-rule.js";
import { gapReasons } from "../../query/rules/worklist.js";
import {
  choiceSchema,
  cloudFields,
  countSchema,
  currency,
  daySchema,
  decimalSchema,
  rowFields,
  textSchema,
} from "./fields.js";

const MissingInput = Type.Object({
  tag: Type.Optional(textSchema("Key of the bill tag that the source reads.", "team")),
  column: Type.Optional(textSchema("Column that the source reads.", "env_id")),
  map: Type.Optional(
    textSchema("Map that the source looks the value up in, as configured.", "./accounts.csv"),
  ),
  pattern: Type.Optional(textSchema("Regular expression of the source.", "^team-(?<identity>[a-z]+)")),
  reason: choiceSchema(gapReasons, {
    description:
      "`no_tag`: the lines do not have the bill tag. `no_value`: the bill tag or column is empty. `not_in_map`: the map does not have the value. `no_match`: the pattern does not " +
      "match it. `no_identity`: the result cannot be an identity. `now_known`: the source gives an identity now, but the days were calculated before it did.",
    examples: ["not_in_map"],
  }),
  ignore_case: Type.Optional(
    Type.Boolean({
      description: "Whether the source reads the bill tag, or looks up values, in any case.",
      examples: [true],
    }),
  ),
  value: textSchema("Value of the bill tag or column; empty when there is none.", "123456789012"),
  similar_tag: Type.Optional(
    textSchema(
      "Key of a bill tag of the lines that differs from `tag` only in case. It is perhaps the intended one; `ignore_case: true` reads it. Only for `no_tag` and `no_value`.",
      "Team",
    ),
  ),
  identity: Type.Optional(
    textSchema("Identity that the source gives now; only for `now_known`.", "payments"),
  ),
});

export const worklistItemSchema = Type.Object(
  {
    currency,
    product_type: rowFields.product_type,
    account_id: cloudFields.account_id,
    environment_id: textSchema(
      "Environment or sub account of the lines; empty when there is none.",
      "env-42",
    ),
    rule: cloudFields.rule,
    allocation_detail: choiceSchema(issueDetails, {
      description: "Why the costs are not allocated; see allocation issues.",
      examples: ["no_identity_on_line"],
    }),
    named_identity: textSchema(
      "Identity that the lines name. It does not pay, because their rule does not use it.",
      "",
    ),
    lacks: Type.Array(MissingInput, {
      description:
        "What is missing for each identity source, in their order; an identity from one of them is enough. Empty if the lines name " +
        "an identity, or no sources are configured.",
    }),
    line_count: countSchema("Lines of the bill; lines that are equal but for their amounts count once.", 31),
    resource_count: countSchema("Resources of these lines.", 4),
    example_resource_id: textSchema("Resource of the largest line.", "i-0abc"),
    example_date: daySchema("UTC day of the largest line."),
    amount: decimalSchema("Sum of the unallocated costs of these lines.", "412.5"),
  },
  { title: "WorklistItem" },
);
