/**
 * Settings of a `generic_metrics_only` tenant: one resource whose costs are priced here, from fixed counts or from
 * metrics, and split evenly or by a metric.
 *
 * A tenant that only has fixed counts split evenly among static identities needs no Prometheus.
 */
import { type Static, Type } from "@sinclair/typebox";
import { choice, integer, list, mapping, oneOf, text } from "../../../config/reader/setting.js";
import { validityKeys, validityRule } from "../../../config/reader/validity.js";
import type { EcosystemSettings } from "../../../config/settings/ecosystem-settings.js";
import { identitySourceSettings, LABEL, promql } from "../../metered/identity-source.js";
import { currencySetting, rateSetting } from "../../metered/rate.js";

const identitySource = identitySourceSettings({
  description:
    "The source of identities that can be charged. It may be left out if no cost type queries Prometheus. Then " +
    "there are no identities.",
  rules: [
    {
      rule: "`source: prometheus` and `both` need `discovery_query`; `static` allows none.",
      check({ source, discovery_query: query }, report) {
        if (source === undefined) return;
        if (source === "static" && query !== undefined) {
          report(["discovery_query"], "is not used with source static: remove it, or use source both");
        }
        if (source !== "static" && query === undefined)
          report(["discovery_query"], `is required with source ${source}`);
      },
    },
  ],
});

const quantityKind = <const Kind extends string>(kind: Kind) =>
  Type.Literal(kind, { description: "How the quantity of a day is calculated." });

const costQuantity = oneOf(
  "type",
  Type.Object({}),
  [
    mapping(
      {
        type: quantityKind("fixed"),
        count: integer({
          description: "The number of units in every hour of the day.",
          unit: "units",
          minimum: 1,
          maximum: 1_000_000_000,
        }),
      },
      { description: "A fixed count: count × 24 unit-hours a day." },
    ),
    mapping(
      {
        type: quantityKind("storage_gib"),
        query: promql("Bytes stored, as one series, such as `sum(database_size_bytes)`."),
      },
      { description: "The day's mean of the query, in GiB, × 24 hours." },
    ),
    mapping(
      {
        type: quantityKind("network_gib"),
        query: promql(
          "Bytes moved in each step, as one series, such as `sum(increase(bytes_total[$step]))`.",
        ),
      },
      { description: "The day's sum of the query, in GiB." },
    ),
  ],
  { description: "The quantity of each day." },
);

const costType = mapping(
  {
    name: text({
      description: "The product type of its billing lines.",
      expected: "a name such as PG_COMPUTE: capital letters, digits and `_`, at most 100 characters",
      pattern: "^[A-Z][A-Z0-9_]{0,99}$",
    }),
    product_category: text({ description: "The product category of its billing lines.", maxLength: 100 }),
    ...validityKeys,
    rate: rateSetting("The price of one unit.", "currency per unit"),
    cost_quantity: costQuantity,
    allocation_strategy: choice(["even_split", "usage_ratio"], {
      description:
        "`even_split`: costs are divided evenly among all identities. `usage_ratio`: by the measured usage of each.",
    }),
    allocation_query: Type.Optional(promql("For `usage_ratio`: the usage, one series for each identity.")),
    allocation_label: Type.Optional(
      text({
        ...LABEL,
        description: "For `usage_ratio`: the label with the identity in `allocation_query`.",
      }),
    ),
  },
  {
    description: "One kind of cost.",
    rules: [
      validityRule,
      {
        rule: "`usage_ratio` needs `allocation_query` and `allocation_label`; `even_split` allows neither.",
        check(value, report) {
          const { allocation_strategy: strategy } = value;
          for (const key of ["allocation_query", "allocation_label"] as const) {
            const given = value[key] !== undefined;
            if (strategy === "usage_ratio" && !given)
              report([key], "is required with allocation_strategy usage_ratio");
            if (strategy === "even_split" && given)
              report([key], "is not used with allocation_strategy even_split: remove it");
          }
        },
      },
    ],
  },
);

const settings = mapping(
  {
    cluster_id: text({
      description: "The id of the one resource, of type `cluster`, that all lines are for.",
    }),
    display_name: Type.Optional(text({ description: "A name of the resource for people." })),
    identity_source: Type.Optional(identitySource),
    currency: currencySetting,
    cost_types: list(costType, {
      description: "The kinds of cost.",
      expected: "a list of 1 to 500 cost types",
      maxItems: 500,
      uniqueBy: "name",
    }),
  },
  { description: "Costs priced in this file." },
);

export type GenericMetricsOnlySettings = Static<typeof settings>;
export type CostTypeSettings = GenericMetricsOnlySettings["cost_types"][number];

/** Returns true if a day of this cost type is measured or split by Prometheus queries. */
function queriesPrometheus({
  cost_quantity: quantity,
  allocation_strategy: strategy,
}: Partial<CostTypeSettings>): boolean {
  return (quantity?.type !== undefined && quantity.type !== "fixed") || strategy === "usage_ratio";
}

const refusals: NonNullable<EcosystemSettings<typeof settings>["refusals"]> = [
  {
    // No `minItems`, because there may be days on which no cost type counts.
    rule: "`cost_types` has an entry.",
    check({ cost_types: types }, report) {
      if (types?.length === 0) report(["cost_types"], "must be a list of 1 to 500 cost types, not 0");
    },
  },
  {
    rule: "`metrics` is required if a cost type or the identity source queries Prometheus.",
    check({ cost_types: types = [], identity_source: source, metrics }, report) {
      if (metrics !== undefined) return;
      const index = types.findIndex((type) => type !== undefined && queriesPrometheus(type));
      if (index >= 0) report(["metrics"], `is required: cost_types[${index}] queries Prometheus`);
      else if (source?.source !== undefined && source.source !== "static") {
        report(["metrics"], `is required: identity_source has source ${source.source}`);
      }
    },
  },
  {
    rule: "`identity_source` is required if a cost type queries Prometheus. `source: static` needs no discovery.",
    check({ cost_types: types = [], identity_source: source }, report) {
      const index = types.findIndex((type) => type !== undefined && queriesPrometheus(type));
      if (source !== undefined || index < 0) return;
      report(
        ["identity_source"],
        `is required: cost_types[${index}] queries Prometheus (source: static needs no discovery)`,
      );
    },
  },
];

export const genericMetricsOnlySettings: EcosystemSettings<typeof settings> = {
  description: "`generic_metrics_only`: any metered system whose prices are set in this file.",
  settings,
  refusals,
};
