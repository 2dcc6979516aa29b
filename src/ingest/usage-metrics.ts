import type { AllocationRule } from "../domain/allocation-rule.js";

/** Metrics of a tenant's usage: those that its rules use as weights, and those that show who was active. Ascending. */
export function usageMetricsOf(rules: readonly AllocationRule[], deriving: readonly string[]): string[] {
  const tiers = rules.flatMap((rule) => rule.components).flatMap((component) => component.tiers);
  const weighed = tiers.flatMap((tier) => (tier.kind === "usage" ? tier.metrics : []));
  return [...new Set([...weighed, ...deriving])].sort();
}
