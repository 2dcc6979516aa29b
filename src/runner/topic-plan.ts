import type { TopicAttribution } from "../allocate/allocation-job.js";
import { topicRuleSet } from "../allocate/topic-rules.js";
import type { TenantConfig } from "../config/config.js";
import { topicAttributionOf } from "../config/settings/topic-attribution.js";
import type { AnyEcosystem } from "../ingest/ecosystem.js";
import type { TopicStaging } from "../ingest/stage-topics.js";
import { topicMatcher } from "../ingest/topic-patterns.js";
import { gatherWindow } from "./window.js";

/** The rules by which a run attributes a tenant's costs to topics, for gathering and allocation. */
export interface TopicPlan extends TopicAttribution {
  readonly staging: TopicStaging;
}

/** Returns undefined if topic attribution is disabled or the ecosystem has no topics. */
export function topicPlan(
  tenant: TenantConfig,
  ecosystem: AnyEcosystem,
  today: string,
): TopicPlan | undefined {
  const settings = topicAttributionOf(tenant.plugin_settings);
  if (settings?.enabled !== true || ecosystem.topicRules === undefined) return undefined;
  const declared = ecosystem.topicRules(tenant.plugin_settings);
  const rules = topicRuleSet(declared, settings.missing_metrics_behavior);
  return {
    rules,
    retryLimit: tenant.topic_attribution_retry_limit,
    staging: {
      rules: declared,
      rulesHash: rules.hash,
      retryLimit: tenant.topic_attribution_retry_limit,
      isExcluded: topicMatcher(settings.exclude_topic_patterns),
      from: topicRetentionStart(tenant, today),
    },
  };
}

/** First day within the retention of attributions to topics. */
export function topicRetentionStart(tenant: TenantConfig, today: string): string {
  const own = topicAttributionOf(tenant.plugin_settings)?.retention_days ?? tenant.retention_days;
  return gatherWindow(today, Math.min(own, tenant.retention_days), 0).start;
}
