/** Settings of a `focus` tenant: where its bills are delivered, and which of their costs is charged. */
import { type Static, Type } from "@sinclair/typebox";
import { digestOf } from "../../../common/digest.js";
import { choice, integer, list, mapping, text } from "../../../config/reader/setting.js";
import type { EcosystemSettings } from "../../../config/settings/ecosystem-settings.js";
import { CURRENCY } from "../../../domain/text-limits.js";
import { lineColumns } from "./line-columns.js";
import type { CostColumn } from "./load/landing-columns.js";
import { billSourceSettings } from "./sources/settings.js";
import { usageSettings } from "./usage/settings.js";

const settings = mapping(
  {
    sources: list(billSourceSettings, {
      description: "Where the bills are delivered.",
      expected: "a list of 1 to 100 sources",
      minItems: 1,
      maxItems: 100,
      uniqueBy: "name",
    }),
    cost: choice(["effective", "billed", "contracted", "list"], {
      description:
        "Which cost of a line is charged: `effective` spreads what was paid upfront over its use, `billed` is that of the invoice.",
      default: "effective",
    }),
    spread: choice(["none", "daily"], {
      description:
        "What becomes of a charge of more than a day: `none` leaves it on its first day, `daily` divides it among its days by their seconds, exactly.",
      default: "none",
    }),
    currency: Type.Optional(
      text({
        description: "The currency of lines that name none. Left out: such lines are malformed.",
        expected: "three capital letters such as EUR",
        pattern: CURRENCY,
      }),
    ),
    usage: usageSettings,
    precedence: list(
      text({
        description: "The name of a source, or a glob of `SOURCE/FILE`, such as `azure/**/*-final.csv`.",
        maxLength: 2000,
      }),
      {
        description:
          "Of bills that have the same charges, the one that matches an earlier entry is charged, and the other one is superseded. Without an entry that decides, the month waits.",
        maxItems: 1000,
        default: [],
        inert: true,
      },
    ),
    shrink_limit_percent: integer({
      description:
        "A new bill of a month that is over waits for a person when it has lost more than this of its lines or of an amount.",
      unit: "percent",
      minimum: 0,
      maximum: 100,
      default: 50,
    }),
  },
  { description: "Bills in the FinOps Open Cost and Usage Specification (FOCUS)." },
);

export type FocusSettings = Static<typeof settings>;

const refusals: NonNullable<EcosystemSettings<typeof settings>["refusals"]> = [
  {
    rule: "`metrics` is required with `usage.queries`.",
    check({ metrics, usage }, report) {
      if (metrics === undefined && (usage?.queries ?? []).length > 0)
        report(["metrics"], "is required: usage.queries ask Prometheus");
    },
  },
];

export const focusSettings: EcosystemSettings<typeof settings> = {
  description: "`focus`: the bill of any cloud or service that is delivered as FOCUS files.",
  settings,
  refusals,
  lineColumns,
};

export const costColumnOf: Readonly<Record<FocusSettings["cost"], CostColumn>> = {
  effective: "EffectiveCost",
  billed: "BilledCost",
  contracted: "ContractedCost",
  list: "ListCost",
};

/** Changes when the settings or a release change how files are read. */
export function readingHash({ cost, currency }: FocusSettings): string {
  return digestOf(["3", cost, currency ?? null]).slice(0, 16);
}
