/** Chargeback rows. */
import { Type } from "@sinclair/typebox";
import {
  allocationDetails,
  allocationMethods,
  costTypes,
  issueDetails,
} from "../../domain/allocation-rule.js";
import {
  choiceSchema,
  cloudFields,
  countSchema,
  currency,
  decimalSchema,
  identityNames,
  type RowFields,
  resourceNames,
  rowFields,
  textSchema,
} from "./fields.js";

const costType = choiceSchema(costTypes, {
  description:
    "`usage`: charged by measured usage, or to the only owner. `shared`: divided evenly, or charged to `UNALLOCATED`. " +
    "`passed`: passed on by a step of `allocation.pass_on`, from `passed_from`.",
  examples: ["usage"],
});

const RowMetadata = Type.Object(
  {
    component: countSchema("Part of the line by the product's rule, from 0.", 0),
    component_ratio: textSchema("Share of the line that the component takes.", "0.7"),
    tier: countSchema("Tier of the rule that applied, from 0.", 0),
    env_id: Type.Optional(textSchema("Environment of the resource; absent when there is none.", "env-42")),
    metric: Type.Optional(
      textSchema("Metrics that a `usage_ratio` was weighed by, joined by `+`.", "bytes_in+bytes_out"),
    ),
    weight: Type.Optional(
      textSchema(
        "Weight of the identity: its usage in the metric's unit for `usage_ratio`, otherwise 1. Decimal as text.",
        "1536.5",
      ),
    ),
    total_weight: Type.Optional(
      textSchema(
        "Weight of all identities of the component. For `even_split`, their number; identities whose part is zero have " +
          "no row and are not counted.",
        "20480",
      ),
    ),
    path_id: Type.Optional(
      Type.Integer({
        description:
          "Distinguishes rows of the dimension that steps passed on along different ways; absent if none did.",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        examples: [4670551728646912],
      }),
    ),
    passed_path: Type.Optional(
      Type.Array(
        Type.Object({
          step: Type.Integer({ description: "Step of `allocation.pass_on`, from 1.", examples: [1] }),
          identity_id: textSchema("Identity that the step took the cost from.", "idle"),
          tier: countSchema("Tier by which that identity had been given the cost.", 0),
          allocation_method: choiceSchema(allocationMethods, { description: "Method of that tier." }),
          allocation_detail: choiceSchema(allocationDetails, { description: "Why that tier applied." }),
          metric: textSchema("Metrics of that tier, joined by `+`; empty if it has none.", "cpu"),
        }),
        { description: "The steps that passed the cost on, in order; absent if none did." },
      ),
    ),
  },
  { description: "Why the row was allocated this way." },
);

export const chargebackRowSchema = Type.Object(
  {
    dimension_id: Type.Integer({
      description:
        "Id of the dimension, which labels are attached to: a hash of ecosystem, tenant_id, environment, resource_id, product_category, product_type, " +
        "identity_id and cost_type. The same dimension always has the same id.",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [4670551728646912],
    }),
    ...rowFields,
    identity_id: textSchema("Identity that pays; `UNALLOCATED` if none was found.", "sa-12345"),
    cost_type: costType,
    amount: decimalSchema(
      "Cost charged to the identity, in `currency`, which is that of the billing line; negative for refunds.",
      "33.3334",
    ),
    currency,
    ...cloudFields,
    allocation_method: choiceSchema(allocationMethods, {
      description:
        "`usage_ratio`: by measured usage. `direct_owner`: to the owner. `even_split`: evenly among several identities. " +
        "`line_identity`: to the identity that the line names. `cost_ratio`: in proportion to allocated costs or direct charges. `fixed_ratio`: by configured shares. " +
        "`terminal`: to `UNALLOCATED`.",
      examples: ["usage_ratio"],
    }),
    allocation_detail: choiceSchema(allocationDetails, {
      description: `Why this method applied. These need attention: ${issueDetails.map((detail) => `\`${detail}\``).join(", ")}.`,
      examples: ["usage_ratio_allocation"],
    }),
    passed_from: textSchema(
      "Identity that a step of `allocation.pass_on` took the cost from, to give it to `identity_id`. Empty if no step " +
        "passed it on. `metadata.passed_path` has all steps.",
      "idle",
    ),
    provisional: Type.Boolean({
      description:
        "The data of the day is still incomplete, for example the metrics of a resource: the row may change with the next run.",
      examples: [false],
    }),
    tags: Type.Array(Type.String(), {
      description: "Display names of the dimension's labels, in the order of their ids.",
      examples: [["Platform", "Production"]],
    }),
    tag_pairs: Type.Array(Type.String(), {
      description:
        "The same labels as `key=display name`, in the same order. `=` and `\\` in a key are escaped by `\\`: the key ends at the first `=` " +
        "that is not.",
      examples: [["team=Platform", "stage=Production"]],
    }),
    ...identityNames,
    ...resourceNames,
    metadata: RowMetadata,
  } satisfies RowFields<"chargebacks">,
  { title: "ChargebackRow" },
);

export const chargebackDatesSchema = Type.Object(
  {
    dates: Type.Array(Type.String({ format: "date" }), {
      description: "Every UTC day that has chargeback rows, ascending.",
      examples: [["2026-01-01", "2026-01-02"]],
    }),
  },
  { title: "ChargebackDates", description: "The days." },
);
