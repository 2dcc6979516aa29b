/** Texts of the explanation of an amount. */
import { counted } from "../../common/plural.js";

export const explainTexts = {
  title: "Why this amount",
  noSuchRow: "This link does not point to a row",
  passed: "Who had the cost, before it was passed on",
  finally: "Who pays it now",
  explained: "← explained here",
  copy: "Copy",
  copied: "Copied",
  toRule: "Rules of the day",
  toDelivery: "Delivered bills",
  toWorklist: "What to do about it",
  toIdentity: (who: string) => `Statement of ${who}`,
  strip: "From the bill to the amount",
  bill: "Bill",
  prices: (count: number) => counted(count, "price", "prices"),
  taken: (step: number, from: string) => `Step ${step} took from ${from}`,
  rule: "Rule",
  productRule: (product: string) => (product === "*" ? "for other products" : `for ${product}`),
  share: "Share",
  whole: "all of it",
  unknownShare: "not stored",
  oneOf: (count: string) => `1 of ${count}`,
  amount: "Amount",
  exactly: "The exact calculation",
  days: "The days before and after",
  daysHint: "All that this identity pays for this product of this resource, in all parts of the line.",
  line: "The line of the bill",
  noLine: "The line is no longer stored.",
  product: (quantity: string, unit: string | null, price: string) =>
    `${quantity}${unit === null ? "" : ` ${unit}`} × ${price}`,
  reductions: {
    discount: "Discount",
    commitment: "Covered by a commitment",
    credit: "Credit",
    rounding: "Rounding",
  },
  billLines: (count: number) => `${counted(count, "equal line", "equal lines")}, split as one`,
  ratio: (ratio: string) => `${ratio} of it:`,
  thisOne: "← this part",
  noRule: "The rule is unknown: this day was published before rules were stored with rows.",
  tiers: "Who caused the cost? Tried in this order",
  kinds: {
    usage: "Its users, by measured usage",
    owner: "Its owner",
    even: "All active identities, in equal parts",
    line: "The identity that the line names",
    cost: "Identities with costs, in proportion",
    fixed: "Identities with a fixed share",
    terminal: "Nobody",
  },
  outcomes: {
    used: "used",
    no_usage: "no usage",
    no_costs: "no costs to weigh by",
    names_nobody: "the line names no identity",
    metrics_missing: "metrics were missing",
    no_identities: "no active identities",
    no_owner: "the owner is unknown",
    several_owners: "there are several owners",
    unclear: "not clear from the stored data",
    not_reached: "not needed",
    given_up: "given up: the day failed too often",
  },
  shares: (count: number) =>
    count === 1 ? "One identity pays it" : `${counted(count, "identity", "identities")} share it`,
  weight: "Weight",
  noWeights:
    "The split cannot be recalculated from the stored data, so only the published amounts are shown.",
  arithmetic: (split: {
    ticks: string;
    tick: string;
    upTo: string;
    weight: string;
    total: string;
    offset: string;
    own: string;
  }) =>
    `Sorted by identity, the weights up to this one add up to ${split.upTo} of ${split.total}. (${split.ticks} ticks of ${split.tick} × ${split.upTo} + ${split.offset}) ÷ ${split.total}, rounded down, minus the same without its own weight of ${split.weight}, is ${split.own} ${split.own === "1" ? "tick" : "ticks"}. The offset ${split.offset} is derived from the line, so that rounding favours no one.`,
  residue: (residue: string) =>
    `Plus ${residue}, which is less than a tick. It goes to one identity, chosen in the same way.`,
  samples: "Usage by hour",
  samplesOf: (metric: string, hours: number) => `${metric} over ${counted(hours, "hour", "hours")}`,
  published: "Published",
  unknownPublication: "Unknown",
  owner: (ids: string) => `Owner on that day: ${ids}`,
} as const;
