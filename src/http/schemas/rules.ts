/** Rules and the lines that they matched in a period. */
import { Type } from "@sinclair/typebox";
import type { WrittenWhere } from "../../config/allocation/condition.js";
import type { ConfiguredComponent } from "../../config/allocation/configured-rule.js";
import type { ConfiguredTier } from "../../config/allocation/tier.js";
import { allocationDetails, allocationMethods } from "../../domain/allocation-rule.js";
import { MOST_COVERED_PRODUCTS, MOST_TAG_KEYS } from "../../query/rules/coverage-sql.js";
import { MOST_PRODUCT_TYPES } from "../../query/rules/rule-matches.js";
import {
  choiceSchema,
  countSchema,
  currency,
  decimalSchema,
  nullableText,
  rowFields,
  textSchema,
} from "./fields.js";

const lineMatches = {
  currency,
  line_count: countSchema("Lines of the bill that the rule matched.", 12),
  amount: decimalSchema("Sum of the costs of these lines; refunds are negative.", "120.5"),
};

const Tier = Type.Object({
  component: countSchema("Part of the line, from 0.", 0),
  tier: countSchema("Position of the tier in its component, from 0.", 0),
  allocation_method: choiceSchema(allocationMethods, { description: "How the tier splits." }),
  allocation_detail: choiceSchema(allocationDetails, { description: "Result of the tier." }),
  row_count: countSchema("Chargeback rows.", 36),
  amount: decimalSchema("Sum of these rows.", "84.35"),
});

const sums = Type.Array(
  Type.Object({
    ...lineMatches,
    tiers: Type.Array(Tier, {
      description: "What each tier split, by component, then tier; their amounts add up to `amount`.",
    }),
  }),
  { description: "Lines that the rule matched, one entry for each currency; the largest amount first." },
);

/** A part of the configuration as the user wrote it. Its keys are columns and tags of the bill. */
const asConfigured = <Written>(description: string, example: Written) =>
  Type.Optional(
    Type.Unsafe<Written>({ type: "object", additionalProperties: true, description, examples: [example] }),
  );
const listAsConfigured = <Written>(description: string, example: Written) =>
  Type.Optional(
    Type.Unsafe<readonly Written[]>({
      type: "array",
      items: { type: "object", additionalProperties: true, description: "An entry, as configured." },
      description,
      examples: [[example]],
    }),
  );

const Rule = Type.Object({
  name: textSchema(
    "Name of the rule. `assigned/PRODUCT`: the rule of the product type, for lines of assigned resources.",
    "shared-eks",
  ),
  configured: Type.Boolean({
    description: "False: published days name the rule, but the configuration no longer has it.",
    examples: [true],
  }),
  keep: Type.Boolean({
    description: "The lines are left to the ecosystem's own rules (`allocation: keep`).",
    examples: [false],
  }),
  where: asConfigured<WrittenWhere>("Which lines the rule matches, as configured; left out: all lines.", {
    "tag.cluster": "prod",
  }),
  split: listAsConfigured<ConfiguredTier>("How the lines are split, as configured.", {
    by: "cost",
    of: "allocated",
    over: "day",
  }),
  components: listAsConfigured<ConfiguredComponent>(
    "Parts of each line, each with its own split, as configured.",
    {
      ratio: "1",
      split: [{ by: "line" }],
    },
  ),
  stage: Type.Optional(
    countSchema(
      "The stage in which the rule's lines are allocated; later stages weigh by what earlier ones allocated. Left out for a former rule.",
      1,
    ),
  ),
  took_nothing: Type.Boolean({
    description: "No line of the period names the rule.",
    examples: [false],
  }),
  sums,
  narrow_weights: Type.Array(
    Type.Object({
      currency,
      amount: decimalSchema("What these weights split, without its sign.", "6.4"),
      covered: decimalSchema(
        "Cost of the weights, as a share of the allocated cost of their days.",
        "0.0254",
      ),
    }),
    {
      description:
        "Weights that cover less than a tenth of the cost that was allocated on a day, where they split more than half of the rule's amount: a few identities pay what all were perhaps meant to share.",
    },
  ),
});

const PassingStep = Type.Object({
  name: textSchema("Name of the step.", "idle-nodes"),
  configured: Type.Boolean({
    description: "False: published days name the step, but the configuration no longer has it.",
    examples: [true],
  }),
  passed_nothing: Type.Boolean({
    description: "The step passed no cost of the period on.",
    examples: [false],
  }),
  sums: Type.Array(
    Type.Object({
      currency,
      row_count: countSchema("Chargeback rows that the step passed on.", 36),
      amount: decimalSchema("Sum of these rows. A cost that two steps passed on counts for both.", "84.35"),
    }),
    { description: "What the step passed on, one entry for each currency." },
  ),
});

const TagHint = Type.Object({
  currency,
  tag: textSchema("Key of the bill tag in the configuration.", "costcenter"),
  similar_tag: textSchema(
    "Key of the bill tag that the lines have instead, which is perhaps the intended one.",
    "CostCenter",
  ),
  line_count: countSchema("Lines with `similar_tag` and without `tag`.", 940),
  amount: decimalSchema("Sum of the costs of these lines.", "1128.5"),
  share: decimalSchema(
    "Share of these lines in the bill, from 0 to 1. Refunds count without their sign.",
    "0.94",
  ),
});

export const rulesReportSchema = Type.Object(
  {
    rules: Type.Array(Rule, {
      description:
        "The configured rules in their order; after them, by name, the rules that published days name and the configuration does not.",
    }),
    steps: Type.Array(PassingStep, {
      description:
        "The steps of `allocation.pass_on` in their order; after them, by name, former steps that published days name.",
    }),
    product_rules: Type.Array(Type.Object({ product_type: rowFields.product_type, sums }), {
      description: `The ecosystem's own rules, for lines that no configured rule matched: the ${MOST_PRODUCT_TYPES} product types with the largest amounts of each currency, the largest first. Signs do not count for the order.`,
    }),
    other_product_rules: Type.Array(
      Type.Object({ ...lineMatches, product_type_count: countSchema("Product types that are summed.", 20) }),
      { description: "The other product types, summed by currency. Empty when there are none." },
    ),
    tag_hints: Type.Array(TagHint, {
      description:
        "Bill tags whose keys differ only in case from a key that identity sources or rules read, on lines without a bill tag of that key; the largest share first.",
    }),
  },
  {
    title: "RulesReport",
    description: "The rules, and the lines of the published days of a period that they matched.",
  },
);

const coverage = {
  tagged_line_count: countSchema("Lines of the bill that have the bill tag, also with an empty value.", 30),
  line_count: countSchema("All lines.", 40),
  tagged_amount: decimalSchema("Sum of the lines that have the bill tag; refunds are negative.", "75"),
  amount: decimalSchema("Sum of all lines.", "100"),
  share: nullableText({
    description:
      "Part of the cost that has the bill tag, from 0 to 1: of the sum of amounts without their sign, so that a refund counts as much as a " +
      "charge of its size. Rounded down to 6 places, so that 1 means everything. A decimal as text. Null if all lines cost 0.",
    examples: ["0.75"],
  }),
};

const TagKey = Type.Object({
  tag_key: textSchema("Key of the bill tag, as the bill has it.", "team"),
  ...coverage,
  product_types: Type.Array(Type.Object({ product_type: rowFields.product_type, ...coverage }), {
    description: `The ${MOST_COVERED_PRODUCTS} product types with the largest amounts of each currency, also those without the bill tag; the largest first.`,
  }),
  other_product_types: Type.Optional(
    Type.Object(coverage, { description: "The other product types together; left out when there are none." }),
  ),
});

export const tagCoverageSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        currency,
        line_count: countSchema("Lines of the bill.", 40),
        amount: decimalSchema("Sum of these lines.", "100"),
        tag_key_count: countSchema(
          "Bill tag keys that lines of the currency have, also those that are not shown.",
          3,
        ),
        tag_keys: Type.Array(TagKey, {
          description: `The ${MOST_TAG_KEYS} bill tag keys with the largest amounts, the largest first.`,
        }),
      }),
      { description: "One entry for each currency of the bill, by its code." },
    ),
  },
  { title: "TagCoverage", description: "How much of the bill of a period has which bill tag." },
);
