/** The built-in rule for bills of any kind. Configured rules come before it. */
import type { AllocationRule } from "../../../domain/allocation-rule.js";

/**
 * Charges the identity that the line names, through the tenant's configured identity sources, and otherwise
 * `UNALLOCATED`.
 */
export const allocationRules: readonly AllocationRule[] = [
  {
    product_type: "*",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "line", detail: "line_identity_allocation" },
          { kind: "terminal", detail: "no_identity_on_line" },
        ],
      },
    ],
  },
];
