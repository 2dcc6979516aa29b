/** Sums of chargebacks. */
import { type TString, type TUnsafe, Type } from "@sinclair/typebox";
import { BUCKET_LIMIT } from "../../query/chargebacks/bucket-limit.js";
import { type GroupColumn, groupColumns, TEAM } from "../../query/chargebacks/summed-rows.js";
import { UNASSIGNED } from "../../query/inventory/names.js";
import { DECLARED_COLUMN, LINE_TAG_COLUMN, TAG_COLUMN, UNTAGGED } from "../../query/tags/filter.js";
import { timeBuckets } from "../../query/time/bucket.js";
import { choiceSchema, countSchema, currency, decimalSchema, nullableText, textSchema } from "./fields.js";

const groupNames = [...Object.keys(groupColumns), TEAM];

export const groupBy = (most: number) =>
  Type.Array(
    Type.Unsafe<GroupColumn>({
      anyOf: [
        { type: "string", enum: groupNames },
        { type: "string", pattern: TAG_COLUMN },
        { type: "string", pattern: LINE_TAG_COLUMN },
        { type: "string", pattern: DECLARED_COLUMN },
      ],
      description: "Column to group by.",
    }),
    {
      description:
        "Columns to group by, each given as its own parameter. Repetitions are ignored. `tag:KEY` groups by the display name of the " +
        `tag with that key, \`${UNTAGGED}\` where a dimension has none; \`line_tag:KEY\` by the value of the billing line's tag; \`column:NAME\` by the value of a declared column of the bill; \`team\` by the team of the identity, \`${UNASSIGNED}\` where it has none.`,
      maxItems: most,
      default: ["identity_id"],
      examples: [["identity_id", "tag:team"]],
      "x-expected": `one of ${groupNames.join(", ")}, tag:KEY with the key of a tag, line_tag:KEY with the key of a line's tag or column:NAME with a declared column, at most ${most} times`,
    },
  );

export const aggregateParameters = {
  group_by: groupBy(20),
  time_bucket: choiceSchema(timeBuckets, {
    description: "Length of a bucket, in the request's time zone. Weeks are ISO weeks, from Monday.",
    default: "day",
  }),
};

export const amounts = {
  total_amount: decimalSchema("Sum of all amounts.", "30"),
  usage_amount: decimalSchema("The part that was attributed by measured usage.", "23.3334"),
  shared_amount: decimalSchema(
    "The part that was divided evenly, or that no identity was found for.",
    "6.6666",
  ),
  passed_amount: decimalSchema(
    "The part that steps of `allocation.pass_on` took from other identities. The three parts add up to `total_amount`.",
    "0",
  ),
};

type AmountFields = Readonly<Record<string, TString>>;

/** The amounts at the top level. They are null unless all rows have the same currency. */
export function overallAmounts<Fields extends AmountFields>(amounts: Fields) {
  const orNull = ({ description, pattern, examples }: TString) =>
    Type.Unsafe<string | null>({
      type: ["string", "null"],
      description: `${description} Null if there are several currencies: \`totals\` has one sum for each.`,
      pattern,
      examples,
    });
  const nullable = Object.entries(amounts).map(([name, schema]) => [name, orNull(schema)]);
  return {
    currency: nullableText({
      description: "ISO 4217 code of the amounts' currency; null when there are several, or no rows.",
      examples: ["USD"],
    }),
    ...(Object.fromEntries(nullable) as { [Name in keyof Fields]: TUnsafe<string | null> }),
  };
}

export function currencyTotals<Fields extends AmountFields>(amounts: Fields) {
  return Type.Array(
    Type.Object({ currency, ...amounts, row_count: countSchema("Rows of the currency.", 12) }),
    {
      description:
        "The sums over all buckets, one entry for each currency, by its code. Amounts of different currencies are never added.",
    },
  );
}

/** The values that identify a group, and their names. */
export const groupValues = {
  dimensions: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "Each column of `group_by` with its value; `environment_id` is empty for resources without one.",
    examples: [{ identity_id: "sa-12345" }],
  }),
  display_names: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "Names of the values of `identity_id`, `resource_id` and `environment_id`. Values without a known name are left out.",
    examples: [{ identity_id: "Payments gateway" }],
  }),
};

export const aggregationSchema = Type.Object(
  {
    buckets: Type.Array(
      Type.Object({
        ...groupValues,
        time_bucket: textSchema(
          "Label: hour `2026-01-01T05:00:00Z` (with the zone's offset when not UTC), day `2026-01-01`, ISO week `2026-W01`, " +
            "month `2026-01`.",
          "2026-01-01",
        ),
        currency,
        ...amounts,
        row_count: countSchema("Chargeback rows in the bucket.", 12),
        provisional: Type.Boolean({
          description: "Some rows belong to a day whose data is still incomplete: they may change.",
          examples: [false],
        }),
      }),
      {
        description: `At most ${BUCKET_LIMIT} buckets, ordered by time, then by the columns in the order you list them, then by currency. Empty buckets are left out.`,
      },
    ),
    ...overallAmounts(amounts),
    totals: currencyTotals(amounts),
    total_rows: countSchema("Chargeback rows that match, in all buckets.", 12),
    total_buckets: countSchema("Number of buckets, including those left out.", 1),
    truncated: Type.Boolean({
      description: "Some buckets were left out. The totals still cover all rows.",
      examples: [false],
    }),
  },
  { title: "Aggregation", description: "Sums by time bucket and column." },
);
