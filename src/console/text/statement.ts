/** Texts of the statement. */
import type { Coverage } from "../../common/coverage.js";

const coverageStates: Readonly<Record<Coverage["state"], string>> = {
  final: "final",
  provisional: "provisional, amounts may still change",
  incomplete: "incomplete",
};

export const statementTexts = {
  title: "Statement",
  of: (who: string) => `Statement of ${who}`,
  named: (name: string, id: string) => `${name} (${id})`,
  coverage: ({ covered, days, state }: Coverage) =>
    `${covered.toLocaleString("en")} of ${days.toLocaleString("en")} ${days === 1 ? "day" : "days"}: ${coverageStates[state]}`,
  choose: "Whose statement?",
  chooseHint: "Choose an identity, or add a filter: by team, by a label, or by any other column.",
  search: "Search identities",
  more: (count: number) => `${count.toLocaleString("en")} more: search for ${count === 1 ? "it" : "them"}`,
  noneFound: "No identity found in this period",
  charged: "Charged",
  ofBill: (percent: string) => `${percent} of the bill`,
  parts: {
    own: "Own usage and resources owned alone",
    shared: "Part of shared costs",
    passed: "Passed on from others",
    unallocated: "Unallocated: no identity was found",
  },
  lines: "By product and resource",
  methods: "How it was allocated",
  method: {
    usage_ratio: "By measured usage: in proportion to what each identity used",
    direct_owner: "To the only owner",
    even_split: "Divided evenly among several identities",
    line_identity: "To the identity that the line names",
    cost_ratio: "In proportion to costs",
    fixed_ratio: "In fixed shares",
    terminal: "Unallocated: no identity was found",
  } as Readonly<Record<string, string>>,
  others: (count: number) => `The ${count.toLocaleString("en")} smallest`,
  csv: "Rows as CSV",
  excel: "Rows as CSV for Excel",
  print: "Print",
  explore: "Explore",
  none: "Nothing was charged in this period",
  noneHint: "Choose other days, or remove a filter.",
} as const;
