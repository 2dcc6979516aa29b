/** Parts of an explanation: the rule of the line, its tiers, and how a component is divided. */
import { Type } from "@sinclair/typebox";
import { allocationDetails, type SetOf } from "../../domain/allocation-rule.js";
import { type TierOutcome, tierOutcomes } from "../../query/chargebacks/explain/tiers.js";
import { choiceSchema, countSchema, decimalSchema, nullableText, textSchema } from "./fields.js";

export const component = countSchema("Part of the line by the product's rule, from 0.", 0);

export const explainedRule = Type.Object(
  {
    rules_hash: textSchema(
      "Hash of the rule set that the day was allocated by.",
      "5d41402abc4b2a76b9719d911017c592",
    ),
    product_type: textSchema(
      "Product type of the rule; `*` for products without a rule of their own, empty for a configured rule.",
      "KAFKA_NUM_CKUS",
    ),
    rule: textSchema("Name of the configured rule; empty for the rule of a product type.", ""),
    given_up: Type.Boolean({
      description:
        "The calculation of the day failed too often: no rule was applied, and the whole line went to `UNALLOCATED`.",
      examples: [false],
    }),
    rounding_offset: decimalSchema(
      "Offset for rounding the components, a part of a tick. It is derived from the line, so that over many lines no component is favoured.",
      "0.341766",
    ),
    residue_point: decimalSchema(
      "A second such value. `split.residue` goes to the component whose range of cumulative ratios, lower bound included, contains it.",
      "0.058817",
    ),
    components: Type.Array(
      Type.Object(
        {
          component,
          ratio: textSchema("Share of the line that the component takes.", "0.7"),
          ticks: decimalSchema("Its whole ticks, without the sign of the line.", "2100000"),
          amount: decimalSchema(
            "Amount of the component that is divided, including the residue of the line.",
            "210",
          ),
          has_residue: Type.Boolean({
            description:
              "One of its recipients gets the rest of the line below one tick. False if there is no rest.",
            examples: [true],
          }),
        },
        { title: "ExplainedComponent" },
      ),
      {
        description:
          "Parts that the rule divides the line into. The cumulative ticks of a component are `split.line_ticks` × its cumulative ratio + " +
          "`rounding_offset`, rounded down. Its own ticks are the difference to those of the component before it, so that all add up to the line.",
      },
    ),
  },
  { title: "ExplainedRule" },
);

export const explainedSplit = Type.Object(
  {
    decimal_places: Type.Integer({
      description: "`allocation.decimal_places` that the day was allocated with.",
      minimum: 2,
      maximum: 12,
      examples: [4],
    }),
    tick: decimalSchema("Smallest amount that is divided by weight.", "0.0001"),
    line_ticks: decimalSchema("Whole ticks of the line, without its sign.", "3000000"),
    residue: decimalSchema("Rest of the line below one tick, without its sign.", "0"),
    component_ticks: decimalSchema("Ticks of the row's component.", "2100000"),
    total_weight: decimalSchema("Weight of all recipients together.", "20480"),
    rounding_offset: decimalSchema(
      "Offset for rounding the recipients, from 0 to less than `total_weight`. It is derived from the line, so that over many lines no recipient is favoured.",
      "7311.5",
    ),
    residue_point: decimalSchema(
      "A second such value. The `residue` goes to the first recipient whose `weight_up_to` is above it.",
      "1204.25",
    ),
  },
  { title: "ExplainedSplit" },
);

const meanings: Readonly<Record<TierOutcome, string>> = {
  used: "it allocated the component",
  no_costs: "there were no costs to weigh by",
  names_nobody: "the line names no identity",
  no_usage: "no identity had usage above 0 of its metrics on the resource",
  metrics_missing: "a metric could not be fetched",
  no_identities: "its sets had no member",
  no_owner: "no owner of the resource was known",
  several_owners: "the resource had several owners",
  unclear: "the published data does not show it",
  not_reached: "an earlier tier applied",
  given_up: "the calculation of the day failed too often",
};

export const explainedTier = Type.Object(
  {
    tier: countSchema("Order in which it is tried, from 0.", 0),
    kind: choiceSchema(["usage", "owner", "even", "line", "cost", "fixed", "terminal"], {
      description:
        "`usage`: by measured usage. `owner`: to the owner of the resource. `even`: in equal parts. `line`: to the identity that the line " +
        "names. `cost`: in proportion to allocated costs or direct charges. `fixed`: by configured shares. `terminal`: to `UNALLOCATED`.",
      examples: ["usage"],
    }),
    set_of: Type.Unsafe<SetOf>(
      textSchema(
        "Scope of the metrics, costs or identity sets: `resource`, `tenant`, `currency`, or `currency@COLUMN` for lines with the same value of a column.",
        "resource",
      ),
    ),
    allocation_detail: choiceSchema(allocationDetails, {
      description: "Detail of the rows that it creates, unless something was missing.",
      examples: ["usage_ratio_allocation"],
    }),
    outcome: choiceSchema(tierOutcomes, {
      description: `Result of the tier. ${tierOutcomes.map((each) => `\`${each}\`: ${meanings[each]}.`).join(" ")}`,
      examples: ["used"],
    }),
    sources: Type.Array(
      Type.Object(
        {
          name: textSchema("A metric, or a scope of identity sets.", "bytes_in"),
          identities: Type.Unsafe<number | null>({
            type: ["integer", "null"],
            description:
              "If the tier was passed over: number of identities with usage above 0, or of members of the set. Null for other tiers.",
            examples: [0],
          }),
          gap: nullableText({
            description: "Why it could not be fetched completely; null if it was, or if it was not needed.",
            examples: [null],
          }),
        },
        { title: "TierSource" },
      ),
      { description: "Inputs of the tier." },
    ),
  },
  { title: "ExplainedTier" },
);
