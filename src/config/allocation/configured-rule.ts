/** `tenants.T.allocation.rules`: rules that are tried before the ecosystem's own. */
import { type TUnsafe, Type } from "@sinclair/typebox";
import { FIRST_STAGE, LAST_STAGE } from "../../domain/allocation-rule.js";
import { parseNonNegativeDecimal } from "../reader/decimal.js";
import { integer, list, mapping, text } from "../reader/setting.js";
import { type Validity, validityKeys, validityRule } from "../reader/validity.js";
import { type WrittenWhere, whereSetting } from "./condition.js";
import { type ConfiguredTier, splitSetting } from "./tier.js";

export interface ConfiguredComponent {
  /** Share of the line, a plain decimal. */
  readonly ratio: string;
  readonly split: readonly ConfiguredTier[];
}

/** Exactly one of `split`, `components` and `allocation` is set. */
export interface ConfiguredRule extends Validity {
  readonly name: string;
  readonly where?: WrittenWhere;
  /** Only for a rule that weighs by allocated costs. */
  readonly stage?: number;
  readonly split?: readonly ConfiguredTier[];
  readonly components?: readonly ConfiguredComponent[];
  /** The line is left to the ecosystem's own rule. */
  readonly allocation?: "keep";
}

/** Returns the components of a rule. A rule without components has one, its `split`. */
export function componentsOf({ split, components = [] }: ConfiguredRule): readonly ConfiguredComponent[] {
  return split === undefined ? components : [{ ratio: "1", split }];
}

/** The stage of a rule: the first, unless it splits by allocated costs. */
export function stageOf(rule: ConfiguredRule): number {
  return usesAllocatedCosts(rule) ? (rule.stage ?? FIRST_STAGE + 1) : FIRST_STAGE;
}

export function usesAllocatedCosts(rule: ConfiguredRule): boolean {
  return componentsOf(rule).some(({ split }) =>
    split.some((tier) => tier.by === "cost" && tier.of === "allocated"),
  );
}

const component = mapping(
  {
    ratio: text({
      description: "The part of the line.",
      unit: "share of the line",
      expected: "a decimal above 0 and up to 1, with at most 6 decimals",
      pattern: "^(0\\.\\d{1,6}|1)$",
      decimal: true,
      parse: parseNonNegativeDecimal,
    }),
    split: splitSetting,
  },
  { description: "A part of each line." },
);

const rule = mapping(
  {
    name: text({
      description: "The name of the rule. It is a column of the rule's rows.",
      pattern: "^[a-z0-9][a-z0-9-]{0,62}$",
      expected: "1 to 63 lower case letters, digits and `-`, starting with a letter or a digit",
    }),
    ...validityKeys,
    where: Type.Optional(whereSetting),
    stage: Type.Optional(
      integer({
        description:
          "The stage of a rule that splits by allocated costs: they are what the stages before it allocated. By " +
          "default 2. All other rules are of stage 1.",
        minimum: 2,
        maximum: LAST_STAGE,
      }),
    ),
    split: Type.Optional(splitSetting),
    components: Type.Optional(
      list(component, {
        description: "Parts of each line that are split independently.",
        minItems: 1,
        maxItems: 20,
      }),
    ),
    allocation: Type.Optional(
      Type.Literal("keep", { description: "`keep`: the ecosystem's own rule allocates the lines." }),
    ),
  },
  {
    description:
      "A rule. It allocates the lines that match its `where` and no earlier rule. Without `where` it matches every " +
      "line.",
    rules: [
      validityRule,
      {
        rule: "Exactly one of `split`, `components` and `allocation` is given.",
        check(given, report) {
          const ways = ["split", "components", "allocation"].filter((way) => Object.hasOwn(given, way));
          if (ways.length === 0) report([], "needs split, components or allocation");
          for (const way of ways.slice(1)) report([way], `excludes ${ways[0]}: give one of the two`);
        },
      },
      {
        rule: "The ratios of `components` add up to 1.",
        check({ components }, report) {
          const ratios = components?.map((each) => each?.ratio);
          if (ratios === undefined || ratios.includes(undefined as never)) return;
          const sum = ratios.reduce((total, ratio) => total + millionths(ratio), 0);
          if (sum !== WHOLE) report(["components"], `has ratios that add up to ${sum / WHOLE}, not to 1`);
        },
      },
    ],
  },
);

const WHOLE = 1_000_000;

/** Converts a ratio of at most 6 decimals to millionths. */
function millionths(ratio: string): number {
  const [whole = "0", fraction = ""] = ratio.split(".");
  return Number(whole) * WHOLE + Number(fraction.padEnd(6, "0"));
}

export const rulesSetting: TUnsafe<ConfiguredRule[]> = Type.Unsafe<ConfiguredRule[]>(
  list(rule, {
    description:
      "Rules. The first one that matches a line allocates it. Lines without a matching rule are allocated by the " +
      "ecosystem's own rules.",
    uniqueBy: "name",
    isUniqueForever: true,
    maxItems: 1000,
    default: [],
  }),
);
