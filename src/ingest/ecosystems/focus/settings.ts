/** Settings of a `focus` tenant: where its bills are delivered, and which of their costs is charged. */
import { type Static, Type } from "@sinclair/typebox";
import { digestOf } from "../../../common/digest.js";
import { choice, integer, list, mapping, text } from "../../../config/reader/setting.js";
import type { EcosystemSettings } from "../../../config/settings/ecosystem-settings.js";
import { CURRENCY } from "../../../domain/text-limits.js";
import { columnsRule, columnsSetting, declaredLineColumns } from "./declared-columns.js";
import { standardLineColumns } from "./line-columns.js";
import type { CostColumn } from "./load/landing-columns.js";
import { billSourceSettings } from "./sources/settings.js";
import { RESOLUTION_SECONDS } from "./usage/kubernetes/queries.js";
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
        "The cost of a line that is charged. `effective` spreads upfront payments over their use. `billed` is the cost " +
        "on the invoice.",
      default: "effective",
    }),
    spread: choice(["none", "daily"], {
      description:
        "How a charge of more than a day is charged. `none`: on its first day. `daily`: it is divided among its days " +
        "in proportion to their seconds, exactly.",
      default: "none",
    }),
    currency: Type.Optional(
      text({
        description: "The currency of lines without one. If left out, such lines are malformed.",
        expected: "three capital letters such as EUR",
        pattern: CURRENCY,
      }),
    ),
    usage: usageSettings,
    columns: columnsSetting,
    precedence: list(
      text({
        description: "The name of a source, or a glob of `SOURCE/FILE`, such as `azure/**/*-final.csv`.",
        maxLength: 2000,
      }),
      {
        description:
          "If two bills have the same charges, the one that matches an earlier entry is charged, and the other one is " +
          "superseded. If no entry decides, the month waits.",
        maxItems: 1000,
        default: [],
        inert: true,
      },
    ),
    shrink_limit_percent: integer({
      description:
        "A new bill of a past month waits for acceptance if it has lost more than this part of its lines or of an " +
        "amount.",
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
    rule: "`metrics` is required with `usage.queries` and `usage.preset`.",
    check({ metrics, usage }, report) {
      if (metrics !== undefined) return;
      if ((usage?.queries ?? []).length > 0) report(["metrics"], "is required: usage.queries ask Prometheus");
      else if (usage?.preset !== undefined)
        report(["metrics"], "is required: the queries of usage.preset ask Prometheus");
    },
  },
  {
    rule: `\`metrics_step_seconds\` must be a multiple of ${RESOLUTION_SECONDS} with \`usage.preset\`.`,
    check({ metrics_step_seconds: step, usage }, report) {
      if (usage?.preset === undefined || step === undefined || step % RESOLUTION_SECONDS === 0) return;
      const words = `the preset reads metrics every ${RESOLUTION_SECONDS} seconds`;
      report(["metrics_step_seconds"], `must be a multiple of ${RESOLUTION_SECONDS}, not ${step}: ${words}`);
    },
  },
  columnsRule,
];

export const focusSettings: EcosystemSettings<typeof settings> = {
  description: "`focus`: the bill of any cloud or service that is delivered as FOCUS files.",
  settings,
  refusals,
  // A bill that arrives is complete: later deliveries replace it.
  cutoff: { minimum: 0, default: 1 },
  lineColumns: (settings) => ({
    ...standardLineColumns,
    ...declaredLineColumns((settings as Partial<FocusSettings>).columns ?? []),
  }),
};

export const costColumnOf: Readonly<Record<FocusSettings["cost"], CostColumn>> = {
  effective: "EffectiveCost",
  billed: "BilledCost",
  contracted: "ContractedCost",
  list: "ListCost",
};

/** Changes when the settings or a release change how files are read. */
export function readingHash({ cost, currency }: FocusSettings): string {
  return digestOf(["4", cost, currency ?? null]).slice(0, 16);
}
