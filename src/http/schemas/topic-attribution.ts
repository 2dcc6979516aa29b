/** Attributions of costs to topics. */
import { Type } from "@sinclair/typebox";
import {
  attributionDetails,
  attributionIssueDetails,
  attributionMethods,
  UNATTRIBUTED,
} from "../../domain/topic-rule.js";
import { BUCKET_LIMIT } from "../../query/chargebacks/bucket-limit.js";
import { timeBuckets } from "../../query/time/bucket.js";
import { type AttributionGroupColumn, attributionGroupColumns } from "../../query/topics/aggregate.js";
import { topicSortNames, topicTimeBuckets } from "../../query/topics/breakdown.js";
import { currencyTotals, overallAmounts } from "./aggregate.js";
import {
  choiceSchema,
  countSchema,
  currency,
  decimalSchema,
  nullableText,
  type RowFields,
  rowFields,
  textSchema,
} from "./fields.js";
import {
  groupCount,
  groupLimit,
  groupSearch,
  overTime,
  provisionalGroup,
  timeBucketLabels,
} from "./groups.js";
import { id, valueFilter } from "./parameters.js";

const { resource_id: _, ...lineFields } = rowFields;

const METHODS =
  "`bytes_ratio`: by bytes written or read. `retained_bytes_ratio`: by bytes kept. `even_split`: evenly among the cluster's " +
  `topics. \`terminal\`: to \`${UNATTRIBUTED}\`.`;

export const topicAttributionRowSchema = Type.Object({
  ...lineFields,
  env_id: textSchema("Environment of the cluster; empty when there is none.", "env-42"),
  cluster_resource_id: textSchema("Cluster that the cost is for.", "lkc-1a2b3c"),
  cluster_name: nullableText({
    description: "Name of the cluster; null when none is known.",
    examples: ["orders"],
  }),
  topic_name: textSchema(
    `Topic the cost is attributed to; \`${UNATTRIBUTED}\` when none was found.`,
    "orders.v1",
  ),
  amount: decimalSchema(
    "Cost attributed to the topic, in `currency`, which is that of the billing line.",
    "1.2345",
  ),
  currency,
  attribution_method: choiceSchema(attributionMethods, { description: METHODS, examples: ["bytes_ratio"] }),
  attribution_detail: choiceSchema(attributionDetails, {
    description: `Why this method applied. These need attention: ${attributionIssueDetails.map((detail) => `\`${detail}\``).join(", ")}.`,
    examples: ["usage_ratio_allocation"],
  }),
  provisional: Type.Boolean({
    description:
      "The data of the day is still incomplete, for example the metrics of a resource: the row may change with the next run.",
    examples: [false],
  }),
  metric: textSchema(
    "Metrics that the split was weighed by, joined by `+`; empty if none was.",
    "topic_bytes_in+topic_bytes_out",
  ),
} satisfies RowFields<"topic_attributions">);

export const topicAttributionDatesSchema = Type.Object(
  {
    dates: Type.Array(Type.String({ format: "date" }), {
      description: "Every UTC day that has attributions to topics, ascending.",
      examples: [["2026-01-01", "2026-01-02"]],
    }),
  },
  { title: "TopicAttributionDates", description: "The days." },
);

export const attributionFilters = {
  ...valueFilter("cluster_resource_id", "cluster", id("lkc-1a2b3c")),
  ...valueFilter("topic_name", "topic", id("orders.v1")),
  ...valueFilter("product_type", "product type", id("KAFKA_STORAGE")),
  ...valueFilter("currency", "currency", id("USD")),
  ...valueFilter(
    "attribution_method",
    "method",
    choiceSchema(attributionMethods, { description: "An attribution method." }),
  ),
};

const groupNames = Object.keys(attributionGroupColumns) as AttributionGroupColumn[];

const groupBy = (most: number) =>
  Type.Array(choiceSchema(groupNames, { description: "Column to group by." }), {
    description: "Columns to group by, each given as its own parameter. Repetitions are ignored.",
    maxItems: most,
    default: ["topic_name"],
    examples: [["topic_name", "product_type"]],
    "x-expected": `one of ${groupNames.join(", ")}, at most ${most} times`,
  });

export const attributionAggregateParameters = {
  group_by: groupBy(20),
  time_bucket: choiceSchema(timeBuckets, {
    description: "Length of a bucket, in the request's time zone. Weeks are ISO weeks, from Monday.",
    default: "day",
  }),
};

const amounts = {
  total_amount: decimalSchema("Sum of all amounts.", "30"),
  usage_amount: decimalSchema("The part that was attributed by measured bytes.", "23.3334"),
  shared_amount: decimalSchema(
    "The part that was divided evenly or could not be attributed to a topic.",
    "6.6666",
  ),
};

export const topicBreakdownParameters = {
  group_by: groupBy(3),
  time_bucket: Type.Optional(
    choiceSchema(topicTimeBuckets, {
      description: "Also return amounts over time, in buckets of this length, in the request's time zone.",
    }),
  ),
  limit: groupLimit,
  order: Type.String({
    description:
      "Order of the groups, also for which of them are within `limit`. `amount`: the largest first, whatever their sign. Or a field and a direction, " +
      `such as \`usage_amount.desc\`: one of ${topicSortNames.map((name) => `\`${name}\``).join(", ")}, or a column of \`group_by\`. ` +
      `\`${UNATTRIBUTED}\` comes last and does not count for \`limit\` if groups are topics.`,
    pattern: "^(amount|.+\\.(asc|desc))$",
    default: "amount",
    examples: ["usage_amount.desc"],
    "x-expected": `amount, or one of ${topicSortNames.join(", ")} and the columns of group_by, followed by .asc or .desc`,
  }),
  search: groupSearch,
};

const dimensions = {
  dimensions: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "Each column of `group_by` with its value; `environment_id` is empty for clusters without one.",
    examples: [{ topic_name: "orders.v1" }],
  }),
  display_names: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "Names of the values of `cluster_resource_id` and `environment_id`. Values without a known name are left out.",
    examples: [{ cluster_resource_id: "orders" }],
  }),
};

export const topicAggregationSchema = Type.Object(
  {
    buckets: Type.Array(
      Type.Object({
        ...dimensions,
        time_bucket: textSchema("Label, as in the aggregation of chargebacks.", "2026-01-01"),
        currency,
        ...amounts,
        row_count: countSchema("Attributions in the bucket.", 12),
        provisional: provisionalGroup,
      }),
      {
        description: `At most ${BUCKET_LIMIT} buckets, ordered by time, then by the columns in the order you list them, then by currency. Empty buckets are left out.`,
      },
    ),
    ...overallAmounts(amounts),
    totals: currencyTotals(amounts),
    total_rows: countSchema("Attributions that match, in all buckets.", 12),
    total_buckets: countSchema("Number of buckets, including those left out.", 1),
    truncated: Type.Boolean({
      description: "Some buckets were left out. The totals still cover all rows.",
    }),
  },
  { description: "Sums by time bucket and column." },
);

const sums = { currency, ...amounts, row_count: countSchema("Attributions.", 12), ...overTime };
export const topicBreakdownSchema = Type.Object(
  {
    time_buckets: timeBucketLabels,
    groups: Type.Array(Type.Object({ ...dimensions, ...sums, provisional: provisionalGroup }), {
      description: "The first groups of each currency in the requested order, by currency.",
    }),
    others: Type.Array(Type.Object({ ...sums, ...groupCount }), {
      description: "All groups beyond `limit` together, one entry for each currency that has some.",
    }),
    totals: Type.Array(Type.Object({ ...sums, ...groupCount }), {
      description:
        "All groups together, one entry for each currency, by its code. `groups` and `others` add up to it exactly.",
    }),
  },
  { title: "TopicBreakdown", description: "The largest groups, the others, and the totals." },
);
