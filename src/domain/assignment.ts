/**
 * Assignments: a person states which identity a resource belongs to, on which days. The lines of these days name the
 * identity, through the identity source `assigned`.
 */
import {
  type AllocationRule,
  issueDetails,
  missingValueTexts,
  type RuleComponent,
  UNALLOCATED,
} from "./allocation-rule.js";

/** A resource belongs to an identity on these UTC days, both included. */
export interface AssignedPeriod {
  readonly resource_id: string;
  readonly identity_id: string;
  readonly valid_from: string;
  /** Null: no end. */
  readonly valid_to: string | null;
}

/** Prefix of the rules of assigned lines, before the product type. No configured rule has a slash in its name. */
const ASSIGNED = "assigned/";

export function assignedRuleName(productType: string): string {
  return `${ASSIGNED}${productType}`;
}

export function isAssignedRule(name: string): boolean {
  return name.startsWith(ASSIGNED);
}

/**
 * Returns the rule for assigned lines of a product type, or undefined if its own rule charges the identity that a line
 * names already. It takes the tiers of the own rule up to the first one that is an allocation issue, because it finds
 * nobody, or divides without better data. There, the assigned identity pays.
 */
export function assignedRule({ product_type, components }: AllocationRule): AllocationRule | undefined {
  const assigned = components.map(assignedComponent);
  if (assigned.every((component, index) => component === components[index])) return undefined;
  return { product_type: "", rule: assignedRuleName(product_type), components: assigned };
}

function assignedComponent(component: RuleComponent): RuleComponent {
  const { ratio, tiers } = component;
  const issue = tiers.findIndex(({ detail }) => issueDetails.some((each) => each === detail));
  const before = tiers.slice(0, Math.max(issue, 0));
  if (issue < 0 || before.some(({ kind }) => kind === "line")) return component;
  return {
    ratio,
    tiers: [
      ...before,
      { kind: "line", detail: "line_identity_allocation" },
      { kind: "terminal", detail: "no_identity_on_line" },
    ],
  };
}

/** Whether a text can be the identity of a line. SQL applies the same conditions to what identity sources find. */
export function canBeIdentity(text: string): boolean {
  return text !== "" && text !== UNALLOCATED && !missingValueTexts.includes(text.toLowerCase());
}
