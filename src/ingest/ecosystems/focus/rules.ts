/** The own rule of bills of any kind, which configured rules come before. */
import type { AllocationRule } from "../../../config/allocation-rule.js";

/** Whoever the line names, by the sources of identities that the tenant has configured; else nobody, which somebody should look at. */
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
