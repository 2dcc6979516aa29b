import type { TopicAttributionSettings } from "../config/settings/topic-attribution.js";
import type { RuleTier } from "../domain/allocation-rule.js";
import { type AttributionDetail, type TopicRule, topicMetrics } from "../domain/topic-rule.js";
import { type RuleSet, ruleSetOf } from "./rules.js";

type Unmeasured = TopicAttributionSettings["missing_metrics_behavior"];
type TopicTier = RuleTier<AttributionDetail, "topic">;

/** Turns an ecosystem's rules for topics into the rows that the allocation statement joins. */
export function topicRuleSet(rules: readonly TopicRule[], unmeasured: Unmeasured): RuleSet {
  return ruleSetOf(
    rules.map((rule) => ({
      product_type: rule.product_type,
      components: [{ ratio: "1", tiers: tiersOf(rule, unmeasured) }],
    })),
  );
}

function tiersOf({ metrics }: TopicRule, unmeasured: Unmeasured): TopicTier[] {
  if (metrics.length === 0) return [everyTopic("even_split_allocation"), measuredAtAll, noTopics];
  const weighed: TopicTier = { kind: "usage", metrics, detail: "usage_ratio_allocation" };
  return unmeasured === "even_split"
    ? [weighed, everyTopic("no_metrics_located"), noTopics]
    : [weighed, { kind: "terminal", detail: "no_metrics_located" }];
}

function everyTopic(detail: AttributionDetail): TopicTier {
  return { kind: "even", scopes: ["topic"], of: "resource", detail };
}

/**
 * Never finds a recipient, because the tier before it finds every topic with usage. It makes an outage visible: topics
 * are known only by their metrics, so if those are missing, "no topics" would be wrong.
 */
const measuredAtAll: TopicTier = {
  kind: "usage",
  metrics: topicMetrics,
  detail: "usage_ratio_allocation",
};

const noTopics: TopicTier = { kind: "terminal", detail: "no_topics_located" };
