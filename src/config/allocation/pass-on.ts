/** `tenants.T.allocation.pass_on`: steps that take costs from identities, after all rules, and give them to others. */
import { type TUnsafe, Type } from "@sinclair/typebox";
import { MOST_STEPS } from "../../domain/passed-cost.js";
import { list, mapping, text } from "../reader/setting.js";
import { type Validity, validityKeys, validityRule } from "../reader/validity.js";
import { type WrittenWhere, whereSetting } from "./condition.js";
import { type ConfiguredTier, splitSetting } from "./tier.js";

export interface ConfiguredStep extends Validity {
  readonly name: string;
  /**
   * Its number among all steps, from 1; by default its position in the list. Set for the steps of a day, from which
   * others may be missing: rows of other days of the month were passed on by steps of these numbers.
   */
  readonly step?: number;
  /** Names of identities and globs with `*`. Only the name itself matches UNALLOCATED. */
  readonly from: readonly string[];
  readonly where?: WrittenWhere;
  readonly split: readonly ConfiguredTier[];
}

/** A step with its number. */
export type NumberedStep = ConfiguredStep & Required<Pick<ConfiguredStep, "step">>;

export function numbered(steps: readonly ConfiguredStep[]): NumberedStep[] {
  return steps.map((each, index) => ({ ...each, step: each.step ?? index + 1 }));
}

const step = mapping(
  {
    name: text({
      description: "The name of the step.",
      pattern: "^[a-z0-9][a-z0-9-]{0,62}$",
      expected: "1 to 63 lower case letters, digits and `-`, starting with a letter or a digit",
    }),
    from: list(
      text({
        description: "An identity, `UNALLOCATED`, or a glob in which `*` matches any text.",
        pattern: "^(?! )[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}(?<! )$",
        expected: "an identity of 1 to 200 characters, or a glob",
      }),
      {
        description:
          "The identities whose costs are passed on. They receive nothing in this step and in later ones.",
        minItems: 1,
        maxItems: 1000,
      },
    ),
    ...validityKeys,
    where: Type.Optional(whereSetting),
    split: splitSetting,
  },
  {
    rules: [validityRule],
    description:
      "A step. It takes what its `from` identities have been given so far, for lines that match its `where`, and " +
      "splits it among others.",
  },
);

export const passOnSetting: TUnsafe<ConfiguredStep[]> = Type.Unsafe<ConfiguredStep[]>(
  list(step, {
    description:
      "Steps that pass costs on. They run in this order, after all rules. Without a `where`, a step takes every cost " +
      "of its identities.",
    uniqueBy: "name",
    isUniqueForever: true,
    maxItems: MOST_STEPS,
    default: [],
  }),
);
