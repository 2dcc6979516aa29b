/** Texts of the statement. */
import type { Coverage } from "../../common/coverage.js";
import { counted } from "../../common/plural.js";
import { productName } from "../../common/product-name.js";

const coverageStates: Readonly<Record<Coverage["state"], string>> = {
  final: "final",
  provisional: "provisional, amounts may still change",
  incomplete: "incomplete",
};

interface SharedBy {
  /** Name of the configured rule; empty for the rule of the product. */
  readonly rule: string;
  readonly product: string;
  readonly how: string;
  readonly whole: string;
  readonly part: string;
}

export const statementTexts = {
  of: (who: string) => `Statement of ${who}`,
  named: (name: string, id: string) => `${name} (${id})`,
  all: "All statements",
  tenant: "Tenant",
  period: "Period",
  state: "State",
  made: "Made",
  coverage: ({ covered, days, state }: Coverage) =>
    `${covered.toLocaleString("en")} of ${counted(days, "day", "days")}: ${coverageStates[state]}`,
  choose: "Whose statement?",
  chooseHint: "Choose an identity or a team, or add a filter: by a label, or by any other column.",
  by: "By",
  payers: { identity_id: "identity", team: "team" },
  search: { identity_id: "Search identities", team: "Search teams" },
  zip: { identity_id: "All identities as a ZIP", team: "All teams as a ZIP" },
  more: (count: number) => `${count.toLocaleString("en")} more: search for ${count === 1 ? "it" : "them"}`,
  noneFound: {
    identity_id: "No identity found in this period",
    team: "No team found in this period",
  },
  charged: "Charged",
  ofBill: (percent: string) => `${percent} of the bill`,
  parts: {
    own: "Own usage and resources owned alone",
    shared: "Part of shared costs",
    passed: "Passed on from others",
    unallocated: "Unallocated: no identity was found",
  },
  months: "The last six months",
  lines: "By product and resource",
  resources: (count: number) => counted(count, "resource", "resources"),
  shared: "Shared costs",
  sharedBy: ({ rule, product, how, whole, part }: SharedBy) => {
    const by = rule === "" ? "" : ` by the rule “${rule}”`;
    return `${whole} for ${productName(product)} was divided${by} ${how}. ${part} of it is charged here.`;
  },
  unallocated: "Unallocated",
  method: {
    usage_ratio: "by measured usage",
    direct_owner: "to the only owner",
    even_split: "evenly among several identities",
    line_identity: "to the identity that the line names",
    cost_ratio: "in proportion to costs",
    fixed_ratio: "in fixed shares",
    terminal: "to nobody, because no identity was found",
  } as Readonly<Record<string, string>>,
  others: (count: number) => `The ${count.toLocaleString("en")} smallest`,
  csv: "Rows as CSV",
  excel: "Rows as CSV for Excel",
  print: "Print",
  explore: "Explore",
  none: "Nothing was charged in this period",
  noneHint: "Choose other days, or remove a filter.",
} as const;
