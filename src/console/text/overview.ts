/** Texts of the overview. */
export const overviewTexts = {
  title: "Overview",
  cost: "Cost",
  allocated: "Allocated",
  unallocated: "Unallocated",
  overTime: "Cost by identity",
  movers: "Largest changes",
  largest: "Largest costs",
  more: "Explore",
  noCosts: "No costs in this period",
  noCostsHint:
    "Choose other days, or check the runs: the costs of these days may not have been gathered yet.",
  issues: "Costs that need attention",
  noIssues: "Nothing in this period needs attention.",
  noneToCheck: "There is nothing to check.",
  provisional: (days: number) =>
    days === 1
      ? "1 day is provisional: its data is still incomplete."
      : `${days} days are provisional: their data is still incomplete.`,
  lastRun: "Last run",
  neverRan: "This tenant has not run yet.",
  bill: "Bill",
  billOfLines: "Bill of these lines",
  equals: "=",
  plus: "+",
  difference: "difference",
  filtered: "With these filters",
  forecast: (month: string) => `Forecast for ${month}`,
  forecastHint: (days: number) =>
    `Four of five months end in this range if the remaining days vary as the ${days} days so far did.`,
  before: "Before",
  change: "Change",
  amount: "Amount",
  share: "Share",
  reason: "Reason",
  rows: "Rows",
} as const;
