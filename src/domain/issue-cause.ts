/** Causes of allocation issues. One change of the configuration, the metrics or the bill removes a cause. */
import type { issueDetails } from "./allocation-rule.js";

export interface IssueCause {
  readonly allocation_detail: (typeof issueDetails)[number];
  readonly product_type: string;
  /** Configured rule. Empty: the rule of the product type. */
  readonly rule: string;
}

/** The columns of a cause, in the order in which the API writes them as one text. */
export const causeColumns = ["allocation_detail", "product_type", "rule"] as const;

/** Accepted causes of a tenant. Reads leave them out by naming each of them. */
export const MOST_ACCEPTED_CAUSES = 100;
