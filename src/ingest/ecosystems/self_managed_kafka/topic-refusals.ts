/** Rules between the settings of `usage_by: topic` and the others. */
import type { Rule } from "../../../config/reader/setting.js";
import { type ClusterQuery, type MeasuredProduct, measuredProducts } from "./measured-products.js";
import { type PresetName, presetOf, type TopicQuery, topicQueries } from "./presets.js";

const principalQueries = ["bytes_in_per_principal", "bytes_out_per_principal"] as const;
type QueryName = TopicQuery | ClusterQuery | (typeof principalQueries)[number];
type Rates = Partial<Readonly<Record<MeasuredProduct["rate"], string>>>;

/** The settings that the rules read. */
interface AllSettings {
  readonly usage_by?: "principal" | "topic";
  readonly topic_owners?: readonly unknown[];
  readonly metrics_preset?: PresetName;
  readonly queries: Partial<Readonly<Record<QueryName, string>>>;
  readonly identity_source: { readonly source: string; readonly label: string };
  readonly topic_attribution?: { readonly enabled: boolean };
  readonly cost_model: Rates & { readonly region_overrides: Readonly<Record<string, Rates>> };
}
type Settings = Partial<AllSettings>;

const measuresTopics = ({ usage_by, topic_attribution }: Settings) =>
  usage_by === "topic" || topic_attribution?.enabled === true;

const NEEDS_TOPICS = "is not used without usage_by: topic or topic_attribution: remove it";

export const topicRefusals: readonly Rule<AllSettings>[] = [
  {
    rule: "`usage_by: topic` needs `topic_owners`; `usage_by: principal` allows neither owners nor a rate of partitions.",
    check({ usage_by, topic_owners, cost_model: model }, report) {
      if (usage_by === "topic") {
        if (topic_owners === undefined)
          report(["topic_owners"], "is required with usage_by: topic: else nobody could be charged");
        // No `minItems`, because there may be days on which no source counts.
        if (topic_owners?.length === 0) report(["topic_owners"], "must be a list of 1 to 100 sources, not 0");
        return;
      }
      if (topic_owners !== undefined)
        report(["topic_owners"], "is not used without usage_by: topic: remove it");
      for (const { rates, path } of writtenRates(model))
        if (rates.partition_hourly_rate !== undefined)
          report([...path, "partition_hourly_rate"], "is not used without usage_by: topic: remove it");
    },
  },
  {
    rule: "`metrics_preset` and the queries of topics need `usage_by: topic` or `topic_attribution`.",
    check(settings, report) {
      if (measuresTopics(settings)) return;
      if (settings.metrics_preset !== undefined) report(["metrics_preset"], NEEDS_TOPICS);
      for (const name of topicQueries)
        if (settings.queries?.[name] !== undefined) report(["queries", name], NEEDS_TOPICS);
    },
  },
  {
    rule: "With `usage_by: topic`, principals are not queried: their label and queries are not used.",
    check({ usage_by, identity_source: source, queries: written = {} }, report) {
      if (usage_by !== "topic") return;
      if (source?.source === "static")
        report(["identity_source", "source"], "must be prometheus or both with usage_by: topic, not static");
      if (source?.label !== undefined && source.label !== "principal")
        report(["identity_source", "label"], "is not used with usage_by: topic: remove it");
      for (const name of principalQueries)
        if (written[name] !== undefined)
          report(["queries", name], "is not used with usage_by: topic: remove it");
    },
  },
  {
    rule: "With `usage_by: topic`, a rate above 0 needs the query of topics that measures its quantity.",
    check(settings, report) {
      if (settings.usage_by !== "topic") return;
      for (const { rate, cluster, perTopic } of measuredProducts) {
        if (isMeasured(settings, perTopic)) continue;
        for (const { rates, path } of writtenRates(settings.cost_model))
          if (/[1-9]/.test(rates[rate] ?? ""))
            report([...path, rate], `must be 0: ${unmeasured(settings, perTopic)}`);
        if (cluster !== undefined && settings.queries?.[cluster] !== undefined)
          report(["queries", cluster], `is not used: ${unmeasured(settings, perTopic)}`);
      }
    },
  },
  {
    rule: "`topic_attribution` needs the queries of bytes of topics.",
    check(settings, report) {
      if (settings.topic_attribution?.enabled !== true) return;
      for (const { cluster, perTopic } of measuredProducts)
        if (cluster !== undefined && !isMeasured(settings, perTopic))
          report(["topic_attribution", "enabled"], `must be false: ${unmeasured(settings, perTopic)}`);
    },
  },
];

function isMeasured({ queries, metrics_preset: preset }: Settings, name: TopicQuery): boolean {
  return (queries?.[name] ?? presetOf(preset).queries[name]) !== undefined;
}

function unmeasured({ metrics_preset: preset }: Settings, name: TopicQuery): string {
  return `metrics_preset ${preset} has no ${name}, and queries.${name} is not set`;
}

/** The rates of the cost model and of each region, with their paths. */
function writtenRates(model: Settings["cost_model"]) {
  if (model === undefined) return [];
  const regions = Object.entries(model.region_overrides ?? {});
  return [
    { rates: model, path: ["cost_model"] },
    ...regions.map(([region, rates]) => ({ rates, path: ["cost_model", "region_overrides", region] })),
  ];
}
