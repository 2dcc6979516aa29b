/**
 * `topic_attribution`: how the costs of Kafka clusters are attributed to topics. An ecosystem that supports it has
 * `topicAttributionSettings` as its key `topic_attribution`, with additional keys of its own, and includes
 * `topicAttributionRefusals` in its rules.
 */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { topicSplits } from "../../domain/topic-rule.js";
import {
  choice,
  flag,
  integer,
  list,
  mapOf,
  mapping,
  type Rule,
  section,
  text,
  unsupported,
} from "../reader/setting.js";
import type { PluginSettings } from "./plugin-settings.js";

const common = {
  enabled: flag({
    description: "Attribute costs to topics. Existing attributions stay if this is switched off.",
    default: false,
  }),
  exclude_topic_patterns: list(
    text({
      description: "A pattern: `*` is any text, `?` one character, `[ab]` one of these. Case counts.",
      expected: "a pattern of 1 to 249 characters that a name of a topic can match",
      pattern: "^[A-Za-z0-9._*?!\\[\\]-]{1,249}$",
    }),
    {
      description: "Topics that are not charged. The other topics share their part.",
      expected: "a list of at most 100 patterns",
      maxItems: 100,
      default: ["__consumer_offsets", "_schemas", "_confluent-*"],
    },
  ),
  missing_metrics_behavior: choice(["even_split", "skip"], {
    description:
      "`even_split`: a line without measured usage is divided evenly among all topics of its cluster. `skip`: it " +
      "goes to `__UNATTRIBUTED__`.",
    default: "even_split",
  }),
  cost_mapping_overrides: mapOf(
    {
      name: "PRODUCT_TYPE",
      pattern: "^[A-Za-z][A-Za-z0-9_]{0,99}$",
      expected: "a product type as the bill names it",
    },
    choice([...topicSplits, "disabled"], {
      description:
        "How lines of this product type are attributed; `disabled`: not at all. `bytes_ratio` weighs bytes in and out " +
        "together, where the product type is not of one direction by itself.",
    }),
    { description: "Methods other than the defaults, by product type.", maxProperties: 100, default: {} },
  ),
  retention_days: integer({
    description: "Attributions older than this are dropped, and older days are not attributed.",
    unit: "days",
    minimum: 1,
    maximum: 365,
    default: 90,
  }),
  emitters: unsupported(
    "the tenant's own `emitters` accept `topic_attribution` in `pipelines`. Leave it empty.",
  ),
};

/** The keys that every ecosystem with topics has. */
const settings = Type.Object(common);
export type TopicAttributionSettings = Static<typeof settings>;

const DESCRIPTION = "Attribution of the costs of Kafka clusters to topics.";

/** Returns the section with additional keys of the ecosystem. */
export function topicAttributionSettings<Own extends TProperties>(own: Own) {
  return section({ ...common, ...own }, { description: DESCRIPTION });
}

/** The section of an ecosystem whose settings do not contain it by default. */
export const topicAttributionWhereWritten = Type.Optional(mapping(common, { description: DESCRIPTION }));

/** Rules for an ecosystem that has the section. */
export const topicAttributionRefusals: readonly Rule<{
  topic_attribution: TopicAttributionSettings;
  metrics?: PluginSettings["metrics"];
}>[] = [
  {
    rule: "`topic_attribution` needs `metrics`.",
    check({ topic_attribution: topics, metrics }, report) {
      if (topics?.enabled !== true || metrics !== undefined) return;
      report(["topic_attribution", "enabled"], "needs `metrics`: topics are weighed by what is measured");
    },
  },
];

/** Returns the section of the tenant, or undefined if its ecosystem has none. */
export function topicAttributionOf(pluginSettings: PluginSettings): TopicAttributionSettings | undefined {
  const part: unknown = Reflect.get(pluginSettings, "topic_attribution");
  return Value.Check(settings, part) ? part : undefined;
}
