/** Explains the amount that a dimension was charged on a day. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { MOST_ROWS } from "../../query/chargebacks/explain/day.js";
import { chargebackRowSchema } from "./chargeback.js";
import { dimensionSchema } from "./dimension.js";
import { component, explainedRule, explainedSplit, explainedTier } from "./explained-rule.js";
import {
  choiceSchema,
  countSchema,
  daySchema,
  decimalSchema,
  identityNames,
  instantSchema,
  nullableText,
  resourceNames,
  textSchema,
} from "./fields.js";
import { pageSchema } from "./page.js";
import { pipelineRunSchema } from "./pipeline.js";
import { pricedLine } from "./priced-line.js";

const row = chargebackRowSchema.properties;
const dimension = dimensionSchema.properties;

const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Static<Schema> | null>({ anyOf: [schema, { type: "null" }], description });

const nullableDecimal = (description: string, example: string) =>
  Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: `${description} A decimal as text; null when \`weights_kept\` is false.`,
    pattern: "^-?[0-9]+(\\.[0-9]+)?$",
    examples: [example],
  });

const lineId = Type.Integer({
  description: "Distinguishes billing lines that are equal in all other columns; 0 if such lines are merged.",
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [0],
});

const rowKey = {
  timestamp: row.timestamp,
  component,
  currency: row.currency,
  line_id: lineId,
  path_id: Type.Integer({
    description: "Distinguishes rows that steps passed on along different ways; 0 if none passed it on.",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [0],
  }),
  amount: row.amount,
};

const Line = Type.Object(
  {
    timestamp: row.timestamp,
    line_id: lineId,
    currency: row.currency,
    granularity: textSchema("Length of the billed period.", "daily"),
    quantity: decimalSchema("Billed quantity, in the unit of the product.", "24"),
    unit_price: nullableText({
      description:
        "Price of one unit, a decimal as text; null when the bill has several lines with several prices.",
      examples: ["12.5"],
    }),
    total_cost: decimalSchema("Cost of the line: what is split.", "300"),
    bill_lines: countSchema(
      "Number of lines of the bill that are equal in all identifying columns: they are split as one line.",
      1,
    ),
    priced: orNull(
      pricedLine,
      "How the bill calculates the line from quantities and prices; null when the bill does not multiply out, as for taxes and credits.",
    ),
  },
  { title: "ExplainedLine" },
);

const Hop = Type.Object(
  {
    step: Type.Integer({ description: "Position of the step in the configuration, from 1.", examples: [1] }),
    identity_id: textSchema("Identity that the step took the cost from.", "idle"),
    amount: decimalSchema("What it took from that identity, of this component of the line.", "12.5"),
    tier: countSchema("Tier by which that identity had been given the cost.", 0),
    allocation_method: row.allocation_method,
    allocation_detail: row.allocation_detail,
  },
  { title: "ExplainedHop" },
);

const nullableFlag = (description: string) =>
  Type.Unsafe<boolean | null>({
    type: ["boolean", "null"],
    description: `${description} Null when \`weights_kept\` is false.`,
    examples: [false],
  });

const RecipientSchema = Type.Object(
  {
    identity_id: textSchema("Identity that shares the component.", "sa-12345"),
    ...identityNames,
    amount: decimalSchema("Its part, as published; 0 when it has no row.", "33.3334"),
    weight: nullableDecimal(
      "Its weight: usage in the metric's unit, cost or share, or 1 where the component is divided evenly.",
      "1536.5",
    ),
    share: nullableDecimal("`weight` / `total_weight`, rounded to six places.", "0.333333"),
    weight_up_to: nullableDecimal(
      "Cumulative weight up to and including this recipient, in ascending order of `identity_id` (byte order).",
      "4096.75",
    ),
    ticks: nullableDecimal(
      "Its ticks: (`component_ticks` × `weight_up_to` + `rounding_offset`) / `total_weight`, rounded down, minus the same value of the recipient before it, " +
        "whose `weight_up_to` is smaller by `weight`.",
      "333333",
    ),
    has_residue: nullableFlag("It gets the rest of the line below one tick."),
  },
  {
    title: "Recipient",
    description:
      "`amount` is `ticks` × `tick`, plus `residue` if `has_residue` is true, with the sign of the line.",
  },
);

const ORDER = "The heaviest first, then by identity; by amount where the weights are not kept.";
const { next_cursor: _, ...recipientPage } = pageSchema(RecipientSchema, ORDER).properties;

const Sample = Type.Object(
  {
    timestamp: instantSchema("Start of the hour."),
    metric: textSchema("What was measured.", "bytes_in"),
    quantity: decimalSchema("Usage in the hour, in the metric's unit.", "64"),
  },
  { title: "UsageSample" },
);

const Owner = Type.Object(
  {
    owner_ids: Type.Array(Type.String(), {
      description: "Identities that owned the resource on the day, as it was allocated.",
      examples: [["sa-12345"]],
    }),
    identity: orNull(
      Type.Object(
        {
          identity_type: textSchema("Kind of identity.", "service_account"),
          display_name: identityNames.identity_name,
          team: nullableText({
            description: "Team of the identity; null when it had none.",
            examples: ["payments"],
          }),
        },
        { title: "IdentityOnDay" },
      ),
      "The identity as the inventory last knew it on the day; null when it did not.",
    ),
    resource: orNull(
      Type.Object(
        {
          resource_type: textSchema("Kind of resource.", "kafka_cluster"),
          display_name: resourceNames.resource_name,
          parent_id: nullableText({
            description: "Parent resource; null when it had none.",
            examples: ["env-42"],
          }),
          owner_id: nullableText({
            description: "Identity that owned it; null when none was known.",
            examples: ["sa-12345"],
          }),
          status: choiceSchema(["active", "deleted"], {
            description: "Whether it existed.",
            examples: ["active"],
          }),
        },
        { title: "ResourceOnDay" },
      ),
      "The resource as the inventory last knew it on the day; null when it did not.",
    ),
  },
  { title: "OwnerOnDay", description: "Who owned what on the day." },
);

export const explanationSchema = Type.Object(
  {
    dimension_id: dimension.dimension_id,
    ecosystem: dimension.ecosystem,
    tenant_id: dimension.tenant_id,
    env_id: dimension.env_id,
    resource_id: dimension.resource_id,
    product_category: dimension.product_category,
    product_type: dimension.product_type,
    identity_id: dimension.identity_id,
    cost_type: dimension.cost_type,
    ...identityNames,
    ...resourceNames,
    date: daySchema("The day."),
    sentence: textSchema(
      "Why the identity pays the amount, in English, with figures rounded to the minor unit of the currency.",
      "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it moved 39.8 % of its bytes, 10.0 of 25.2 GB.",
    ),
    rows: Type.Array(Type.Object(rowKey, { title: "ExplainedRow" }), {
      description:
        "The chargeback rows of the dimension on the day that fit the parameters, by timestamp, component, currency and line. The first is " +
        `explained; select another one by these parameters. At most ${MOST_ROWS}.`,
    }),
    total_rows: countSchema("Number of these rows.", 1),
    row: Type.Object(
      {
        ...rowKey,
        component_ratio: textSchema("Share of the line that the component takes.", "0.7"),
        tier: countSchema("Tier of the rule that applied, from 0.", 0),
        allocation_method: row.allocation_method,
        allocation_detail: row.allocation_detail,
        provisional: row.provisional,
      },
      { title: "ExplainedAmount", description: "The row that is explained." },
    ),
    path: Type.Array(Hop, {
      description:
        "The steps of `allocation.pass_on` that passed the row on, in order. Empty if none did. The parameter `giving` explains what was " +
        "given before any of them.",
    }),
    giving: Type.Integer({
      description:
        "What is explained: how a rule (0) or a step of `path` (its position from 1) gave the cost.",
      minimum: 0,
      examples: [0],
    }),
    taken: orNull(
      decimalSchema("What the explained step took, and splits here.", "12.5"),
      "Null if a rule gave the cost: a rule splits the line.",
    ),
    line: orNull(Line, "The billing line that the row is a part of; null if it is missing."),
    rule: orNull(
      explainedRule,
      "The rule of the product, as the day was allocated by it; null for a day that was published before the service recorded rules.",
    ),
    split: orNull(explainedSplit, "How the component is divided; null if `weights_kept` is false."),
    tiers: orNull(
      Type.Array(explainedTier),
      "The tiers of the component in the order in which they are tried; null when `rule` is.",
    ),
    weights_kept: Type.Boolean({
      description:
        "True if the amounts of all recipients, calculated again from the published weights, equal the published ones. False if the rule or the " +
        "weights are not kept (any more), or if the day was published by a version that rounded in another way: then only the published amounts " +
        "are shown.",
      examples: [true],
    }),
    weight_unit: nullableText({
      description:
        "Unit of the weights: `bytes`, or the currency of costs; null for units without a name, shares and counts.",
      examples: ["bytes"],
    }),
    this: RecipientSchema,
    recipients: Type.Object(recipientPage, {
      title: "Recipients",
      description: "A page of the identities that share the component.",
    }),
    samples: Type.Array(Sample, {
      description:
        "Usage of the identity by hour and metric, which adds up to its weight. Empty if the component is not weighed by usage.",
    }),
    owner: Owner,
    published_at: nullableText({
      description: "When the day was published; null when that is not known. UTC.",
      format: "date-time",
      examples: ["2026-01-06T04:00:00Z"],
    }),
    input_hash: nullableText({
      description: "Hash of the input that the day was calculated from; null when it is not known.",
      examples: ["9b74c9897bac770ffc029102a200c5de"],
    }),
    lacks: Type.Array(Type.String(), {
      description: "What was missing when the day was last gathered, as sentences.",
      examples: [[]],
    }),
    run: orNull(pipelineRunSchema, "The run that published the day; null when its record is not kept."),
  },
  { title: "Explanation", description: "One amount, from the line of the bill down to the last tick." },
);
