/** Texts of the console, in one folder so that they can be translated. */
import { counted } from "../../common/plural.js";
import { accessTexts } from "./access.js";
import { assignTexts } from "./assign.js";
import { changeTexts } from "./change.js";
import { explainTexts } from "./explain.js";
import { explorerTexts } from "./explorer.js";
import { historyTexts, inventoryTexts } from "./inventory.js";
import { overviewTexts } from "./overview.js";
import { runsTexts } from "./runs.js";
import { settingsTexts } from "./settings.js";
import { signInTexts } from "./sign-in.js";
import { statementTexts } from "./statement.js";
import { tagsTexts } from "./tags.js";
import { healthTexts, tenantsTexts } from "./tenants.js";
import { topicsTexts } from "./topics.js";
import { worklistTexts } from "./worklist.js";

export const en = {
  product: "chargehouse",
  loading: "Loading …",
  total: "Total",
  provisionalTotal: "Total, with provisional days",
  inCurrency: (title: string, currency: string) => `${title} (${currency})`,
  other: (groups: number) => counted(groups, "other", "others"),
  unnamed: "(none)",
  views: {
    tenants: "Tenants",
    overview: "Overview",
    explorer: "Explore",
    statement: "Statements",
    worklist: "To fix",
    deliveries: "Bills",
    rules: "Rules",
    inventory: "Inventory",
    topics: "Topics",
    runs: "Runs",
    tags: "Labels",
    settings: "Settings",
  },
  frame: {
    skip: "Skip to the content",
    tenant: "Tenant",
    digits: "All digits",
    digitsHint: "Otherwise amounts are rounded to the smallest unit of their currency.",
    menu: "Menu",
    menuOf: (name: string | undefined) => (name === undefined ? "Menu" : `Menu, ${name}`),
    signedIn: "Signed in as",
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark" },
    api: "API reference",
    noSuchPage: "Page not found",
    home: "All tenants",
    refused: "This part of the page could not be shown.",
  },
  signIn: signInTexts,
  settings: settingsTexts,
  access: accessTexts,
  failed: {
    title: "This could not be loaded",
    unreachable: "The service cannot be reached. Is it running?",
    request: (id: string) => `request ${id}`,
    retry: "Try again",
  },
  change: {
    none: "no change",
    fromNothing: "new",
    nothingBefore: (first: string) => `first day ${first}: nothing to compare with`,
    missing: (days: string, isOne: boolean, last: string) =>
      `${days} ${isOne ? "has" : "have"} no costs yet. Only days up to ${last} are compared.`,
    incompleteNow: (complete: number, all: number) =>
      `This period is incomplete: ${complete.toLocaleString("en")} of ${counted(all, "day", "days")}.`,
    incomplete: (complete: number, all: number) =>
      `The previous period is incomplete: ${complete.toLocaleString("en")} of ${counted(all, "day", "days")}.`,
    unknown: "Could not check which days are complete. Changes may include incomplete days.",
  },
  table: {
    sort: "Sort by this column",
    actions: "Actions",
    more: (left: number) => `Show more rows (${left.toLocaleString("en")} left)`,
  },
  chart: {
    label: (title: string, currency: string) => `${title}, in ${currency}. The table below has the figures.`,
    keys: "Arrow keys read the figures of each bar.",
    none: "No costs",
    partial: (shown: number, days: number) => `${shown} of ${days} days`,
    partials: (buckets: readonly string[]) =>
      `Hatched bars show only some of their days: ${buckets.join("; ")}.`,
    partialBucket: (bucket: string, days: string) => `${bucket}, ${days}`,
  },
  period: {
    label: "Period",
    from: "From",
    to: "To",
    utc: "UTC days, first and last included",
    presets: {
      last7: "Last 7 days",
      last30: "Last 30 days",
      last90: "Last 90 days",
      thisMonth: "This month",
      lastMonth: "Last month",
    },
    custom: "Custom",
    compared: (days: string) => `compared with ${days}`,
    inMonth: (month: string) => `in ${month}`,
    onDays: (days: string) => `on ${days}`,
  },
  columns: {
    identity_id: "Identity",
    resource_id: "Resource",
    product_type: "Product",
    product_category: "Product category",
    cost_type: "Cost type",
    allocation_method: "Method",
    allocation_detail: "Reason",
    passed_from: "Passed on from",
    environment_id: "Environment",
    team: "Team",
    currency: "Currency",
    charge_category: "Charge category",
    service_provider: "Provider",
    account_id: "Billing account",
    region_id: "Region",
    sku_id: "SKU",
    rule: "Rule",
    topic_name: "Topic",
    cluster_resource_id: "Cluster",
    attribution_method: "Method",
  } as Readonly<Record<string, string>>,
  tagColumn: (key: string) => `Label ${key}`,
  lineTagColumn: (key: string) => `Bill tag ${key}`,
  billColumn: (name: string) => `Bill column ${name}`,
  filters: {
    label: "Filters",
    count: (filters: number) => (filters === 0 ? "Filters" : `Filters (${filters})`),
    add: "Add a filter",
    column: "Column",
    search: "Search values",
    is: "is",
    isNot: "is not",
    not: "not",
    only: "Only",
    exclude: "Exclude",
    remove: (filter: string) => `Remove the filter ${filter}`,
    noValues: "No values in this period",
    close: "Close",
  },
  pages: {
    page: (page: number, pages: number) => `page ${page} of ${pages}`,
    before: "‹ previous",
    next: "next ›",
  },
  rows: {
    title: "Rows behind these amounts",
    show: "Show the rows",
    time: "From",
    why: "Why?",
    tagsOf: (who: string, product: string) => `Labels of ${product}, paid by ${who}`,
    whyOf: (who: string, amount: string) => `Why ${who} pays ${amount}`,
    passed: (from: string, method: string) => `from ${from}, ${method}`,
    count: (count: number) => counted(count, "row", "rows"),
    methods: {
      usage_ratio: "by usage",
      direct_owner: "to the owner",
      even_split: "evenly",
      line_identity: "named on the line",
      cost_ratio: "by cost",
      fixed_ratio: "fixed share",
      terminal: "unallocated",
    } as Readonly<Record<string, string>>,
  },
  assign: assignTexts,
  explain: explainTexts,
  why: changeTexts,
  statement: statementTexts,
  tags: tagsTexts,
  inventory: inventoryTexts,
  history: historyTexts,
  overview: overviewTexts,
  explorer: explorerTexts,
  topics: topicsTexts,
  worklist: worklistTexts,
  runs: runsTexts,
  tenants: tenantsTexts,
  health: healthTexts,
} as const;

type IssueReason = keyof typeof en.worklist.reasons;

/** Values of `allocation_detail` that need attention. */
export const issueReasons = Object.keys(en.worklist.reasons) as IssueReason[];

export function isIssueReason(detail: string | null | undefined): detail is IssueReason {
  return (issueReasons as (string | null | undefined)[]).includes(detail);
}

/** The reason in words if it needs attention; otherwise unchanged. */
export function reasonOf(detail: string | undefined): string {
  return isIssueReason(detail) ? en.worklist.reasons[detail].why : (detail ?? "");
}

export function columnName(column: string): string {
  if (column.startsWith("tag:")) return en.tagColumn(column.slice("tag:".length));
  if (column.startsWith("column:")) return en.billColumn(column.slice("column:".length));
  if (column.startsWith("line_tag:")) return en.lineTagColumn(column.slice("line_tag:".length));
  return en.columns[column] ?? column;
}
