import type { AllocationRule } from "../config/allocation-rule.js";

/** Metrics that the usage of a tenant is measured by: those that its rules weigh by, and those that say who was active. Ascending. */
export function usageMetricsOf(rules: readonly AllocationRule[], deriving: readonly string[]): string[] {
  const tiers = rules.flatMap((rule) => rule.components).flatMap((component) => component.tiers);
  const weighed = tiers.flatMap((tier) => (tier.kind === "usage" ? tier.metrics : []));
  return [...new Set([...weighed, ...deriving])].sort();
}
