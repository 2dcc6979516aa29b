/** The `split` of a rule: tiers that are tried in order. */
import { type TUnsafe, Type } from "@sinclair/typebox";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { RULE_COLUMN } from "../../domain/rule-columns.js";
import { parseNonNegativeDecimal } from "../reader/decimal.js";
import { choice, eitherKind, list, mapOf, mapping, oneOf, text } from "../reader/setting.js";
import { type Validity, validityKeys, validityRule } from "../reader/validity.js";
import { LONGEST_MONTH } from "../reader/whole-months.js";

/** Identity sets that an ecosystem gathers and that a line can be divided among. */
const gatheredSets = ["resource_active", "metrics_derived", "tenant_period"] as const;
type GatheredSet = (typeof gatheredSets)[number];

export type ConfiguredTier =
  | { readonly by: "line" }
  | { readonly by: "owner" }
  | { readonly by: "usage"; readonly metric?: string; readonly metrics?: readonly string[] }
  | CostTier
  | FixedTier
  | { readonly by: "even"; readonly among: readonly string[] | GatheredSet }
  | { readonly by: "nobody" };

/** Outside of its days, the tier finds no recipient. */
export interface FixedTier extends Validity {
  readonly by: "fixed";
  readonly shares: Readonly<Record<string, string>>;
}

export interface CostTier {
  readonly by: "cost";
  /** Weights are what earlier stages allocated to each identity, or only what lines charged it directly. */
  readonly of: "allocated" | "direct";
  readonly within?: string;
  readonly over: "day" | "month";
  /** Identities without weight: names, or globs with `*`. */
  readonly exclude?: readonly string[];
}

/** The most identities that one tier may list. */
const MOST_NAMED = 100_000;
const MOST_EXCLUDED = 1000;
const LONGEST_CHAIN = 10;

const IDENTITY = {
  name: "IDENTITY",
  pattern: `^(?!${UNALLOCATED}$)(?! )[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}(?<! )$`,
  expected: `an identity of 1 to 200 characters, other than ${UNALLOCATED}`,
};
const identity = text({
  description: "An identity.",
  pattern: IDENTITY.pattern,
  expected: IDENTITY.expected,
});
const metric = text({ description: "The metric, as the ecosystem names it." });

const by = (word: ConfiguredTier["by"]) => ({
  by: Type.Literal(word, { description: "How the part is split." }),
});

const forms = [
  mapping(by("line"), {
    description: "The identity that the line names, by `identity`.",
  }),
  mapping(by("owner"), { description: "The one identity that owns the resource." }),
  mapping(
    {
      ...by("usage"),
      metric: Type.Optional(metric),
      metrics: Type.Optional(
        list(metric, { description: "Several metrics, added up.", minItems: 1, maxItems: 20 }),
      ),
    },
    {
      description: "In proportion to measured usage of the resource on the day of the line.",
      rules: [
        {
          rule: "Either `metric` or `metrics` is given.",
          check({ metric: one, metrics }, report) {
            if (one === undefined && metrics === undefined) report([], "needs metric or metrics");
            if (one !== undefined && metrics !== undefined)
              report(["metrics"], "excludes metric: give one of the two");
          },
        },
      ],
    },
  ),
  mapping(
    {
      ...by("cost"),
      of: choice(["allocated", "direct"], {
        description:
          "`allocated`: the weights are what the stages before the rule's own allocated to each identity, however it " +
          "was split. `direct`: only lines that name an identity count, of rules whose first tier is `line`.",
        default: "allocated",
      }),
      within: Type.Optional(
        text({
          description: "Only lines with the same value of this column or tag count as weights.",
          pattern: RULE_COLUMN.pattern,
          expected: RULE_COLUMN.expected,
          maxLength: 1000,
        }),
      ),
      over: choice(["day", "month"], {
        description: `\`day\`: the weights are costs of the line's day. \`month\`: costs of its month up to that day, which needs \`retention_days\` of at least \`lookback_days\` + ${LONGEST_MONTH}.`,
        default: "day",
      }),
      exclude: Type.Optional(
        list(
          text({
            description: "An identity, or a glob in which `*` matches any text.",
            pattern: IDENTITY.pattern,
            expected: IDENTITY.expected,
          }),
          { description: "Identities that get no part.", minItems: 1, maxItems: MOST_EXCLUDED },
        ),
      ),
    },
    {
      description: "In proportion to the costs of each identity, in the currency of the line.",
    },
  ),
  mapping(
    {
      ...by("fixed"),
      ...validityKeys,
      shares: mapOf(
        IDENTITY,
        text({
          description: "The weight of the identity.",
          expected: "a decimal above 0 with at most 6 decimals and 12 digits before the point",
          pattern: "^(?!0$)\\d{1,12}(\\.\\d{1,6})?$",
          decimal: true,
          parse: parseNonNegativeDecimal,
        }),
        {
          description: "Identities with their weights. The weights may have any sum.",
          maxProperties: MOST_NAMED,
        },
      ),
    },
    {
      description: "In fixed shares.",
      rules: [
        validityRule,
        {
          rule: "`shares` names at least one identity.",
          check({ shares }, report) {
            if (shares !== undefined && Object.keys(shares).length === 0) report(["shares"], "names nobody");
          },
        },
      ],
    },
  ),
  mapping(
    {
      ...by("even"),
      among: eitherKind(
        [
          choice(gatheredSets, { description: "A set that the ecosystem gathers." }),
          list(identity, { description: "Identities.", minItems: 1, maxItems: MOST_NAMED }),
        ],
        {
          description: "A list of identities, or a set that the ecosystem gathers.",
          expected: `a list of identities, or one of ${gatheredSets.join(", ")}`,
        },
      ),
    },
    {
      description: "In equal parts.",
      rules: [
        {
          rule: "`among` names nobody twice.",
          check({ among }, report) {
            if (!Array.isArray(among)) return;
            const twice = among.findIndex((each, index) => among.indexOf(each) !== index);
            if (twice >= 0) report(["among", twice], "is named twice");
          },
        },
      ],
    },
  ),
  mapping(by("nobody"), {
    description: "UNALLOCATED gets the part. It is the last way, and is added if it is left out.",
  }),
];

const tier = oneOf("by", Type.Object({}), forms, {
  description: "A way to split, tried if the earlier ones find no recipient.",
});

export const splitSetting: TUnsafe<ConfiguredTier[]> = Type.Unsafe<ConfiguredTier[]>(
  list(tier, {
    description:
      "Ways to split, tried in this order. The first one that finds a recipient splits the whole part.",
    minItems: 1,
    maxItems: LONGEST_CHAIN,
  }),
);
