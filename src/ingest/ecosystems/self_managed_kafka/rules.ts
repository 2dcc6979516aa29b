/**
 * Allocation of the products. By principal, the network is divided by the bytes of each principal. Compute and storage
 * have no owner, and are divided evenly among the principals that were active. By topic, each product that is measured
 * per topic is divided by that, and compute is divided evenly among the owners of the day's topics.
 *
 * With `source: both`, the static identities stand in if no principal was seen. With `static`, there are only static
 * identities, by the user's choice, so an even split among them needs no investigation.
 */
import type {
  AllocationDetail,
  AllocationRule,
  IdentityScope,
  RuleTier,
} from "../../../domain/allocation-rule.js";
import { discovers, type MeteredIdentitySource } from "../../metered/identity-source.js";
import { COMPUTE, measuredProducts, NETWORK_EGRESS, NETWORK_INGRESS, STORAGE } from "./measured-products.js";
import { topicQueries } from "./presets.js";
import { BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL, topicQueryOf } from "./queries.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

export function kafkaRules(settings: SelfManagedKafkaSettings): AllocationRule[] {
  const { identity_source: source } = settings;
  if (settings.usage_by === "topic")
    return [
      rule(COMPUTE, infrastructure(source)),
      ...measuredProducts.map(({ name, perTopic }) => rule(name, byUsage(perTopic))),
    ];
  return [
    rule(COMPUTE, infrastructure(source)),
    rule(STORAGE, infrastructure(source)),
    rule(NETWORK_INGRESS, network(source, BYTES_IN_PER_PRINCIPAL)),
    rule(NETWORK_EGRESS, network(source, BYTES_OUT_PER_PRINCIPAL)),
  ];
}

/**
 * Principals with a series were active, even if they moved no bytes, and so were owners of a topic with a series. With
 * only static identities, none are derived.
 */
export function kafkaDerivingMetrics(settings: SelfManagedKafkaSettings): string[] {
  if (!discovers(settings.identity_source)) return [];
  return settings.usage_by === "topic"
    ? topicQueries.filter((name) => topicQueryOf(settings, name) !== undefined)
    : [BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL];
}

function rule(product_type: string, tiers: RuleTier[]): AllocationRule {
  const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };
  return { product_type, components: [{ ratio: "1", tiers: [...tiers, nobody] }] };
}

function infrastructure(source: MeteredIdentitySource): RuleTier[] {
  if (!discovers(source)) return [among(["resource_active"], "even_split_allocation")];
  return [
    among(["metrics_derived"], "even_split_allocation"),
    among(["resource_active"], "no_active_identities_located"),
  ];
}

function network(source: MeteredIdentitySource, metric: string): RuleTier[] {
  return discovers(source) ? byUsage(metric) : [among(["resource_active"], "even_split_allocation")];
}

function byUsage(metric: string): RuleTier[] {
  return [
    { kind: "usage", metrics: [metric], detail: "usage_ratio_allocation" },
    among(["resource_active", "metrics_derived"], "no_metrics_located"),
  ];
}

function among(scopes: readonly IdentityScope[], detail: AllocationDetail): RuleTier {
  return { kind: "even", scopes, of: "resource", detail };
}
