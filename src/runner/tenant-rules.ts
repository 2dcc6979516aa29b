import { buildRuleSet, type RuleSet } from "../allocate/rules.js";
import { type AllocationPlan, planAllocation } from "../config/allocation/plan.js";
import type { TenantConfig } from "../config/config.js";
import type { AnyEcosystem } from "../ingest/ecosystem.js";
import { lineValueSql } from "../stores/facts/line-value.js";

/** The rules by which a run allocates a tenant's costs, for gathering and allocation. */
export interface TenantRules {
  readonly rules: RuleSet;
  /** Undefined if the tenant has neither identity sources nor rules. */
  readonly allocation: AllocationPlan | undefined;
}

export function tenantRules(tenant: TenantConfig, ecosystem: AnyEcosystem): TenantRules {
  const own = ecosystem.rules(tenant.plugin_settings);
  const allocation = planAllocation(tenant, ecosystem, own);
  return { rules: tenantRuleSet(own, allocation), allocation };
}

export function tenantRuleSet(
  own: ReturnType<AnyEcosystem["rules"]>,
  allocation: AllocationPlan | undefined,
): RuleSet {
  if (allocation === undefined) return buildRuleSet(own);
  const places = allocation.costs.flatMap(({ place, within }) =>
    within === undefined ? [] : [[place, lineValueSql(within, allocation.columns)] as const],
  );
  const { rules, digest } = allocation;
  return buildRuleSet(own, { rules, digest, columns: new Map(places) });
}
