/** The `where` of a rule, which selects lines. */
import { type TUnsafe, Type } from "@sinclair/typebox";
import { RULE_COLUMN } from "../../domain/rule-columns.js";
import { parseDecimal } from "../reader/decimal.js";
import { eitherKind, flag, list, mapping, openMapping, text } from "../reader/setting.js";

/** One value, or several of which one must match. `*` matches any text. */
export type Values = string | readonly string[];

/** All given comparisons must hold. */
export interface Comparison {
  readonly not?: Values;
  /** An RE2 pattern. It may match anywhere in the text, unless it is anchored. */
  readonly matches?: string;
  readonly exists?: boolean;
  /** Plain decimals. */
  readonly above?: string;
  readonly below?: string;
}

export type Condition = Values | Comparison;

/** Conditions by column or `tag.KEY`. All must hold. */
export type Conditions = Readonly<Record<string, Condition>>;

/** The `conditions`, and one of `any` if it is not empty, must hold. */
export interface Where {
  readonly conditions: Conditions;
  readonly any: readonly Conditions[];
}

/** The form in the file: `any` is a key beside the columns. */
export interface WrittenWhere {
  any?: Conditions[];
  [column: string]: Condition | Conditions[] | undefined;
}

export function whereOf({ any = [], ...conditions }: WrittenWhere = {}): Where {
  return { conditions: conditions as Conditions, any };
}

const MOST_VALUES = 10_000;

const LONGEST_VALUE = 1000;
const value = text({
  description: "A value, in which `*` matches any text.",
  minLength: 0,
  maxLength: LONGEST_VALUE,
});
const values = list(value, {
  description: "Values, one of which is equal.",
  minItems: 1,
  maxItems: MOST_VALUES,
});
const oneOrMore = (description: string) =>
  eitherKind([value, values], { description, expected: "a text or a list of texts" });

const decimal = (description: string) =>
  Type.Optional(
    text({
      description,
      decimal: true,
      parse: parseDecimal,
      expected: "a plain decimal number such as 0.25",
    }),
  );

const comparison = mapping(
  {
    not: Type.Optional(oneOrMore("The value is none of these.")),
    matches: Type.Optional(
      text({
        description:
          "The value contains a match of this regular expression (RE2); anchor it with `^` and `$`.",
        maxLength: LONGEST_VALUE,
      }),
    ),
    exists: Type.Optional(
      flag({
        description: "`true`: the line has the tag, or the column is not empty. `false`: the opposite.",
      }),
    ),
    above: decimal("The number is greater."),
    below: decimal("The number is less."),
  },
  {
    description: "A comparison. All given conditions must match.",
    rules: [
      {
        rule: "`exists: false` excludes other conditions, and `above` is less than `below`.",
        check(given, report) {
          const { exists, above, below } = given;
          if (exists === false && Object.keys(given).length > 1)
            report(
              ["exists"],
              "can never match together with the other keys: a column or tag that does not exist has no value",
            );
          if (above !== undefined && below !== undefined && !isLess(above, below))
            report(["below"], `can never match: nothing is above ${above} and below ${below}`);
        },
      },
    ],
  },
);

const condition = eitherKind([value, values, comparison], {
  description: "The condition for the column or tag of the line.",
  expected: "a text, a list of texts or a mapping of not, matches, exists, above and below",
});

const alternative = openMapping(
  {},
  {
    description: "Columns and tags, each with a value, a list of values or a comparison. All must match.",
    keys: RULE_COLUMN,
    value: condition,
  },
);

export const whereSetting: TUnsafe<WrittenWhere> = Type.Unsafe<WrittenWhere>(
  openMapping(
    {
      any: Type.Optional(
        list(alternative, {
          description: "Alternatives. At least one of them must match, too.",
          minItems: 1,
          maxItems: 1000,
        }),
      ),
    },
    {
      description:
        "Columns and tags (`tag.KEY`) of the line, each with a value, a list of values or a comparison. All must match.",
      keys: RULE_COLUMN,
      value: condition,
    },
  ),
);

/** Compares plain decimals of any length. */
function isLess(a: string, b: string): boolean {
  return units(a) < units(b);
}

function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const magnitude = BigInt(whole + fraction.padEnd(12, "0"));
  return text.startsWith("-") ? -magnitude : magnitude;
}
