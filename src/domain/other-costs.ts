/**
 * The costs that a FOCUS bill has for each line. One of them is charged, and each is split among the rows of the line
 * at the same points as the charged one. Billing lines and chargebacks have a column for each.
 */
export const otherCosts = ["billed_cost", "effective_cost", "list_cost"] as const;
export type OtherCost = (typeof otherCosts)[number];

/** The costs that reads can sum, by the names of the API, and their columns. The charged one is the amount. */
export const costColumns = {
  charged: undefined,
  billed: "billed_cost",
  effective: "effective_cost",
  list: "list_cost",
} as const satisfies Readonly<Record<string, OtherCost | undefined>>;
export type CostChoice = keyof typeof costColumns;
export const costChoices = Object.keys(costColumns) as CostChoice[];
