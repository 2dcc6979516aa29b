/** The largest groups of chargebacks. */
import { Type } from "@sinclair/typebox";
import { costChoices } from "../../domain/other-costs.js";
import { sizeOrders, sortNames } from "../../query/chargebacks/breakdown-statements.js";
import { timeBuckets } from "../../query/time/bucket.js";
import { amounts, groupBy, groupValues } from "./aggregate.js";
import { choiceSchema, countSchema, currency, decimalSchema } from "./fields.js";
import {
  groupCount,
  groupLimit,
  groupSearch,
  overTime,
  provisionalGroup,
  timeBucketLabels,
} from "./groups.js";

/** The days to compare with. */
export const comparedDates = {
  compare_start_date: Type.Optional(
    Type.String({
      format: "date",
      description:
        "First day of the previous period, inclusive; only with a comparison. Left out: as many days before `start_date` as the period has.",
      examples: ["2025-12-01"],
    }),
  ),
  compare_end_date: Type.Optional(
    Type.String({
      format: "date",
      description:
        "Last day of the previous period, inclusive; only with a comparison. Must be before `start_date`. Left out: the day before `start_date`.",
      examples: ["2025-12-31"],
    }),
  ),
};

export const breakdownParameters = {
  group_by: groupBy(3),
  time_bucket: Type.Optional(
    choiceSchema(timeBuckets, {
      description: "Also return amounts over time, in buckets of this length, in the request's time zone.",
    }),
  ),
  limit: groupLimit,
  order: Type.String({
    description:
      "Order of the groups, also for which of them are within `limit`. `amount`: the largest first, whatever their sign; `change`: the largest change " +
      `from the previous period first. Or a field and a direction, such as \`change.desc\`: one of ${sortNames.map((name) => `\`${name}\``).join(", ")}, or a column of \`group_by\`, ` +
      "by name where values have names, ignoring case. `UNALLOCATED` comes last and does not count for `limit` if groups are identities or teams.",
    pattern: `^(${sizeOrders.join("|")}|.+\\.(asc|desc))$`,
    default: "amount",
    examples: ["change.desc"],
    "x-expected": `${sizeOrders.join(", ")}, or one of ${sortNames.join(", ")} and the columns of group_by, followed by .asc or .desc`,
  }),
  movers: Type.Integer({
    description:
      "Number of groups of each currency to also return in `movers`: those with the largest change from the previous period, from the same sums.",
    minimum: 0,
    maximum: 100,
    default: 0,
  }),
  compare: Type.Optional(
    choiceSchema(["previous"], {
      description:
        "Also return the sums of the previous period: as many days directly before `start_date`, or the days from `compare_start_date` to `compare_end_date`.",
    }),
  ),
  ...comparedDates,
  cost: choiceSchema(costChoices, {
    description:
      "The cost that all amounts are of. `charged`: the chargebacks. Tenants of the ecosystem `focus` also have `billed`, `effective` and `list`: the costs " +
      "of the bill's lines (`BilledCost`, `EffectiveCost`, `ListCost`), each split among the rows of a line like the charged one. A cost that a line does not " +
      "state is 0, or the charged cost for `effective`.",
    default: "charged",
  }),
  search: groupSearch,
};

const sums = {
  currency,
  ...amounts,
  row_count: countSchema("Chargeback rows.", 12),
  parts: Type.Object(
    {
      own: decimalSchema("Charged by measured usage, or to the only owner.", "23.3334"),
      shared: decimalSchema("Divided among several identities.", "2"),
      passed: decimalSchema("Passed on from other identities.", "0"),
      unallocated: decimalSchema("Nobody was found for it: the chargebacks of `UNALLOCATED`.", "4.6666"),
    },
    {
      description:
        "The total amount in parts that add up to it. `usage_amount`, `shared_amount` and `passed_amount` are its sums by cost type, which include `UNALLOCATED`.",
    },
  ),
  previous_amount: Type.Optional(
    decimalSchema(
      "Sum of all amounts in the previous period; only with `compare`, `movers` or an order by `change` or `previous_amount`.",
      "28.5",
    ),
  ),
};

const group = {
  ...groupValues,
  ...sums,
  provisional: provisionalGroup,
};

export const breakdownSchema = Type.Object(
  {
    time_buckets: timeBucketLabels,
    groups: Type.Array(Type.Object({ ...group, ...overTime }), {
      description: "The first groups of each currency in the requested order, by currency.",
    }),
    others: Type.Array(Type.Object({ ...sums, ...groupCount }), {
      description: "All groups beyond `limit` together, one entry for each currency that has some.",
    }),
    totals: Type.Array(Type.Object({ ...sums, ...groupCount, ...overTime }), {
      description:
        "All groups together, one entry for each currency, by its code. `groups` and `others` add up to it exactly.",
    }),
    movers: Type.Optional(
      Type.Array(Type.Object(group), {
        description:
          "The groups of each currency that changed most, by currency, the largest change first, whether they are among `groups` or not; only with `movers`.",
      }),
    ),
  },
  { title: "Breakdown", description: "The largest groups, the others, and the totals." },
);
