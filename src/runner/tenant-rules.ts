import { type AllocatedWeights, buildRuleSet, type RuleSet } from "../allocate/rules.js";
import { assignedOf } from "../config/allocation/assigned.js";
import { whereOf } from "../config/allocation/condition.js";
import { readsAssignments } from "../config/allocation/identity-source.js";
import { type AllocationPlan, planAllocation } from "../config/allocation/plan.js";
import type { TenantConfig } from "../config/config.js";
import { type ConfigPeriod, periodsOf } from "../config/dated.js";
import type { AssignedPeriod } from "../domain/assignment.js";
import { factTableColumns } from "../domain/fact-tables.js";
import { ruleOfStep } from "../domain/passed-cost.js";
import type { RuleColumns } from "../domain/rule-columns.js";
import { whereSql } from "../ingest/configured/condition-sql.js";
import type { AnyEcosystem } from "../ingest/ecosystem.js";
import { columnOf, lineValueSql } from "../stores/facts/line-value.js";

/** The rules by which a run allocates a tenant's costs, for gathering and allocation. */
export interface TenantRules {
  readonly rules: RuleSet;
  /** Hash of the rules without those for assigned lines. See `StageWindowOptions`. */
  readonly inputRulesHash: string;
  /** Undefined if the tenant has neither rules nor identity sources that can find anything. */
  readonly allocation: AllocationPlan | undefined;
}

/** The rules in a part of time in which the configuration does not change. */
export interface PeriodRules extends TenantRules, ConfigPeriod {}

/** Returns the rules of each period of the tenant's configuration, the earliest first. */
export function tenantRules(
  tenant: TenantConfig,
  ecosystem: AnyEcosystem,
  assignments: readonly AssignedPeriod[],
): readonly PeriodRules[] {
  return periodsOf(tenant, ecosystem).map((period) => ({
    ...period,
    ...rulesOfPeriod(period.tenant, ecosystem, assignments),
  }));
}

function rulesOfPeriod(
  tenant: TenantConfig,
  ecosystem: AnyEcosystem,
  assignments: readonly AssignedPeriod[],
): TenantRules {
  const own = ecosystem.rules(tenant.plugin_settings);
  const withoutAssigned = planAllocation(tenant, own);
  const rules = tenantRuleSet(own, withoutAssigned);
  const assigned = readsAssignments(tenant.allocation.identity) ? assignedOf(assignments) : undefined;
  if (assigned === undefined) return { rules, inputRulesHash: rules.hash, allocation: withoutAssigned };
  const allocation = planAllocation(tenant, own, assigned);
  return { rules: tenantRuleSet(own, allocation), inputRulesHash: rules.hash, allocation };
}

export function tenantRuleSet(
  own: ReturnType<AnyEcosystem["rules"]>,
  allocation: AllocationPlan | undefined,
): RuleSet {
  if (allocation === undefined) return buildRuleSet(own);
  const { rules, digest, columns } = allocation;
  const costs = allocation.costs.map((each) => ({ ...each, within: withinOf(each.within, columns) }));
  const places = costs.flatMap(({ place, within }) =>
    within === undefined ? [] : [[place, within] as const],
  );
  const weights = costs.flatMap(({ stage, ...each }) => (stage === undefined ? [] : [{ ...each, stage }]));
  const steps = allocation.steps.map(({ name, from, where, step }) => ({
    step,
    rule: ruleOfStep(name),
    from,
    where: where === undefined ? undefined : whereSql(whereOf(where), columns),
  }));
  return buildRuleSet(own, { rules, digest, columns: new Map(places), weights, steps });
}

/** Chargebacks have the tags and declared columns of their line, and copy some columns of the bill. */
function withinOf(name: string | undefined, columns: RuleColumns): AllocatedWeights["within"] {
  if (name === undefined) return undefined;
  const sql = lineValueSql(name, columns);
  const isCopied =
    sql.startsWith("line_tags[") || Object.hasOwn(factTableColumns.chargebacks, columnOf(name, columns));
  return { sql, isInRows: isCopied };
}
