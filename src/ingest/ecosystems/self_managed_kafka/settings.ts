/** Settings of a `self_managed_kafka` tenant: one cluster, its prices, and the identities that use it. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, integer, list, mapOf, mapping, section, text } from "../../../config/reader/setting.js";
import { validityKeys, validityRule } from "../../../config/reader/validity.js";
import { type EcosystemSettings, settingsOf } from "../../../config/settings/ecosystem-settings.js";
import { metricsSettings } from "../../../config/settings/metrics.js";
import { topicAttributionWhereWritten } from "../../../config/settings/topic-attribution.js";
import { identitySourceSettings, promql } from "../../metered/identity-source.js";
import { parseSelector, SELECTOR } from "../../metered/metric-selector.js";
import { currencySetting, rateSetting } from "../../metered/rate.js";
import { DEFAULT_PRESET, presetNames } from "./presets.js";
import { resourceSource } from "./resource-source.js";
import { topicOwners } from "./topic-owners.js";
import { topicRefusals } from "./topic-refusals.js";

const rates = {
  compute_hourly_rate: rateSetting("The price of one broker for an hour.", "currency per broker-hour"),
  storage_per_gib_hourly: rateSetting("The price of storing one GiB for an hour.", "currency per GiB-hour"),
  network_ingress_per_gib: rateSetting("The price of one GiB written to the cluster.", "currency per GiB"),
  network_egress_per_gib: rateSetting("The price of one GiB read from the cluster.", "currency per GiB"),
  partition_hourly_rate: Type.Optional(
    rateSetting(
      "For `usage_by: topic`: the price of one partition for an hour, for any number of replicas. Without it, " +
        "partitions cost nothing.",
      "currency per partition-hour",
    ),
  ),
};

const costModel = mapping(
  {
    currency: currencySetting,
    ...rates,
    changes: Type.Optional(
      list(
        mapping(
          { ...validityKeys, ...Type.Partial(Type.Object(rates)).properties },
          {
            description: "Rates on some days.",
            rules: [
              validityRule,
              {
                rule: "A change of rates has a day and a rate.",
                check({ valid_from: from, valid_to: to, ...changed }, report) {
                  if (from === undefined && to === undefined) report([], "needs valid_from or valid_to");
                  if (Object.keys(changed).length === 0) report([], "needs a rate");
                },
              },
            ],
          },
        ),
        {
          description:
            "Rates that differ on some days, in every region. What an entry leaves out stays. At most one counts on each day.",
          maxItems: 1000,
          isOneAtATime: true,
        },
      ),
    ),
    region_overrides: mapOf(
      {
        name: "REGION",
        pattern: "^[^\\u0000-\\u001f\\u007f]{1,200}$",
        expected: "a region of 1 to 200 characters",
      },
      Type.Partial(mapping(rates, { description: "The rates that differ in this region." })),
      {
        description: "Rates of single regions: `region` selects one. What an override leaves out stays.",
        maxProperties: 1000,
        default: {},
      },
    ),
  },
  { description: "The prices of the cluster's parts." },
);

export type Rates = Omit<Static<typeof costModel>, "currency" | "changes" | "region_overrides">;

const override = (what: string) =>
  Type.Optional(promql(`${what} \`${SELECTOR}\` is replaced by the matchers of \`metric_selector\`.`));

const queries = section(
  {
    cluster_bytes_in: override("Bytes written to the cluster in each step."),
    cluster_bytes_out: override("Bytes read from the cluster in each step."),
    cluster_storage_bytes: override("Bytes that the cluster stores."),
    bytes_in_per_principal: override("Bytes that each principal wrote in each step."),
    bytes_out_per_principal: override("Bytes that each principal read in each step."),
    bytes_in_per_topic: override("Bytes written to each topic in each step."),
    bytes_out_per_topic: override("Bytes read from each topic in each step."),
    storage_bytes_per_topic: override("Bytes that each topic stores."),
    partitions_per_topic: override("The number of partitions of each topic."),
    messages_in_per_topic: override(
      "Messages written to each topic in each step. They are weights for allocation rules only.",
    ),
  },
  { description: "PromQL to use instead of the default, for exporters with other metric names." },
);

const identitySource = identitySourceSettings({
  description: "The source of identities that can be charged.",
  rules: [
    {
      rule: "`source: static` needs `static_identities`.",
      check({ source, static_identities: identities }, report) {
        if (source !== "static" || identities === undefined || identities.length > 0) return;
        report(["static_identities"], "are required with source static: else nobody could be charged");
      },
    },
  ],
});

const settings = mapping(
  {
    cluster_id: text({
      description: "The resource that all lines are for. Any name is allowed, also with `admin_api`.",
    }),
    broker_count: integer({
      description: "The number of brokers that are charged.",
      unit: "brokers",
      minimum: 1,
      maximum: 100_000,
    }),
    usage_by: Type.Optional(
      choice(["principal", "topic"], {
        description:
          "The label that usage is measured by: principals, or topics that `topic_owners` maps to identities. Default " +
          "`principal`.",
      }),
    ),
    topic_owners: Type.Optional(topicOwners),
    metrics_preset: Type.Optional(
      choice(presetNames, {
        description:
          "The exporter whose metric names the queries of topics use. `chargehouse rules --preset NAME` prints its " +
          `queries. Default \`${DEFAULT_PRESET}\`.`,
      }),
    ),
    region: Type.Optional(
      text({
        description: "The region of the cluster. It selects an entry of `cost_model.region_overrides`.",
      }),
    ),
    cost_model: costModel,
    identity_source: { ...identitySource, default: {} },
    resource_source: resourceSource,
    metrics: metricsSettings,
    metric_selector: Type.Optional(
      text({
        description: "Label matchers that are added to every query, for a Prometheus with several clusters.",
        expected: 'label matchers such as cluster="orders",env=~"prod|stage"',
        maxLength: 2000,
        parse: parseSelector,
      }),
    ),
    discovery_window_hours: integer({
      description:
        "Discovery finds identities of the last hours: `$window` in `identity_source.discovery_query`.",
      unit: "hours",
      minimum: 1,
      maximum: 744,
      default: 1,
    }),
    queries,
    topic_attribution: topicAttributionWhereWritten,
  },
  { description: "A self-managed Kafka cluster." },
);

export type SelfManagedKafkaSettings = Static<typeof settings>;

const refusals: NonNullable<EcosystemSettings<typeof settings>["refusals"]> = [
  {
    rule: "With `metric_selector`, every custom query must have `$selector` in place of its matchers.",
    check({ metric_selector: selector, queries: written = {}, identity_source: source }, report) {
      if (selector === undefined) return;
      const all = [
        ...Object.entries(written).map(([name, query]) => ({ path: ["queries", name], query })),
        { path: ["identity_source", "discovery_query"], query: source?.discovery_query },
      ];
      for (const { path, query } of all) {
        if (query === undefined || query.includes(SELECTOR)) continue;
        report(path, `has no ${SELECTOR}, so metric_selector would not narrow it: write metric{${SELECTOR}}`);
      }
    },
  },
  {
    rule: "With `identity_source.source: static` the bytes of principals are not queried.",
    check({ queries: written = {}, identity_source: source }, report) {
      if (source?.source !== "static") return;
      for (const name of ["bytes_in_per_principal", "bytes_out_per_principal"] as const) {
        if (written[name] !== undefined)
          report(["queries", name], "is not used with identity_source.source static: remove it");
      }
    },
  },
  {
    rule: "`cost_model.region_overrides` needs `region`.",
    check({ region, cost_model: model }, report) {
      if (region === undefined && Object.keys(model?.region_overrides ?? {}).length > 0)
        report(
          ["cost_model", "region_overrides"],
          "is not used without region: set it, or remove the overrides",
        );
    },
  },
  ...topicRefusals,
];

export const selfManagedKafkaSettings: EcosystemSettings<typeof settings> = {
  description: "`self_managed_kafka`: a Kafka cluster whose prices are set in this file.",
  settings,
  refusals,
  maps: (settings) =>
    (settingsOf(selfManagedKafkaSettings, settings).topic_owners ?? []).flatMap(({ map }, index) =>
      map === undefined ? [] : [{ path: ["topic_owners", index, "map"], file: map }],
    ),
};
