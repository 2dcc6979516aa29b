/**
 * Allocation of the four products. The network is divided by the bytes of each principal. Compute and storage have no
 * owner, and are divided evenly among the principals that were active.
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
import { COMPUTE, NETWORK_EGRESS, NETWORK_INGRESS, STORAGE } from "./products.js";
import { BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL } from "./queries.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

export function kafkaRules({ identity_source: source }: SelfManagedKafkaSettings): AllocationRule[] {
  return [
    rule(COMPUTE, infrastructure(source)),
    rule(STORAGE, infrastructure(source)),
    rule(NETWORK_INGRESS, network(source, BYTES_IN_PER_PRINCIPAL)),
    rule(NETWORK_EGRESS, network(source, BYTES_OUT_PER_PRINCIPAL)),
  ];
}

/** Principals with a series were active, even if they moved no bytes. With only static identities, none are derived. */
export function kafkaDerivingMetrics({ identity_source: source }: SelfManagedKafkaSettings): string[] {
  return discovers(source) ? [BYTES_IN_PER_PRINCIPAL, BYTES_OUT_PER_PRINCIPAL] : [];
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
  if (!discovers(source)) return [among(["resource_active"], "even_split_allocation")];
  return [
    { kind: "usage", metrics: [metric], detail: "usage_ratio_allocation" },
    among(["resource_active", "metrics_derived"], "no_metrics_located"),
  ];
}

function among(scopes: readonly IdentityScope[], detail: AllocationDetail): RuleTier {
  return { kind: "even", scopes, of: "resource", detail };
}
