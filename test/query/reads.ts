/**
 * Every read of ClickHouse, with inputs that reach each of its shapes. Golden files and engine tests use this table.
 */
import type { Statement } from "../../src/clickhouse/statement.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { currenciesInWindow, defaultExportColumns, exportColumnNames } from "../../src/export/columns.js";
import { chargebackExport } from "../../src/export/statement.js";
import { billingBefore, billingDays, billingPage } from "../../src/query/billing/list.js";
import { aggregateBuckets, fewBuckets } from "../../src/query/chargebacks/aggregate.js";
import { allocationIssueCount, allocationIssues } from "../../src/query/chargebacks/allocation-issues.js";
import {
  daysWithScales,
  partsOf,
  scalesOf,
  usageOf,
} from "../../src/query/chargebacks/allocation-weights.js";
import {
  type BreakdownInput,
  breakdownGroups,
  breakdownSeries,
} from "../../src/query/chargebacks/breakdown-statements.js";
import { bucketLimitSql } from "../../src/query/chargebacks/bucket-limit.js";
import { changeGroups } from "../../src/query/chargebacks/change-statement.js";
import { newestRow } from "../../src/query/chargebacks/dimension-row.js";
import { matchingDimensions } from "../../src/query/chargebacks/dimensions.js";
import { ticksOfLine } from "../../src/query/chargebacks/explain/arithmetic.js";
import {
  type DayRow,
  isPublishedDay,
  linesOfDay,
  type RuleTierRow,
  rowsOfDay,
  rulesOfRow,
  rulesOfStep,
} from "../../src/query/chargebacks/explain/day.js";
import { factsOfDay } from "../../src/query/chargebacks/explain/day-facts.js";
import { dimensionsOfDay } from "../../src/query/chargebacks/explain/dimensions-of-day.js";
import { passingOfRow } from "../../src/query/chargebacks/explain/passed-row.js";
import {
  chargedOfSplit,
  digestOfCharged,
  recipientsOfSplit,
} from "../../src/query/chargebacks/explain/recipients.js";
import { chargebackPage, chargebacksBefore } from "../../src/query/chargebacks/list.js";
import { pageLookups } from "../../src/query/chargebacks/page-lookups.js";
import { payerSums } from "../../src/query/chargebacks/payers.js";
import type { PassedHop } from "../../src/query/chargebacks/row-metadata.js";
import { chargebackDates, chargebackDays } from "../../src/query/chargebacks/scan.js";
import type { AggregateInput } from "../../src/query/chargebacks/summed-rows.js";
import { costsById } from "../../src/query/inventory/costs.js";
import { inventoryNames } from "../../src/query/inventory/names.js";
import { linesByKeyAndProduct, linesByProduct, linesByTagKey } from "../../src/query/rules/coverage-sql.js";
import { lineMatches, tierMatches } from "../../src/query/rules/rule-matches.js";
import { unallocatedLines } from "../../src/query/rules/worklist.js";
import { changesOfRules } from "../../src/query/state/events.js";
import { summedDays } from "../../src/query/state/reconcile-days.js";
import { tagPresence } from "../../src/query/tags/tag-sql.js";
import { type DateWindowInput, dateWindow } from "../../src/query/time/date-window.js";
import { topicBreakdown } from "../../src/query/topics/breakdown.js";

const window = (input: DateWindowInput = {}) =>
  dateWindow(
    { start_date: "2026-03-01", end_date: "2026-03-05", ...input },
    30,
    new Date("2026-03-10T00:00:00Z"),
  );

const span = { first_day: "2026-03-01", last_day: "2026-03-02", offset: 7 };
const everyFilter = {
  identity_id: ["sa-1"],
  product_type: ["STORAGE"],
  resource_id: ["r-1"],
  cost_type: ["usage"],
  currency: ["EUR"],
  "not:identity_id": ["sa-2", "sa-3"],
};

const tags = [
  { key: "squad", displayNames: ["payments", "search"] },
  { key: "stage", displayNames: ["UNTAGGED"] },
];
const position = { values: ["r-1", "STORAGE", "env-1", "KAFKA", 1772323200, 0, "sa-1"], returned: 1 };
const billingPosition = { values: ["r-1", "STORAGE", "env-1", "KAFKA", 1772323200], returned: 2 };

const aggregateInput = (input: Partial<AggregateInput>): AggregateInput => ({
  window: window(),
  filters: {},
  groupBy: ["identity_id"],
  timeBucket: "day",
  ...input,
});
const aggregate = (input: Partial<AggregateInput>) => aggregateBuckets(aggregateInput(input));
const breakdown = (input: Partial<BreakdownInput>): BreakdownInput => ({
  movers: 0,
  window: window(),
  filters: {},
  groupBy: ["identity_id"],
  limit: 10,
  order: "amount",
  ...input,
});
const extent = (input: Partial<AggregateInput>) => bucketLimitSql(aggregateInput(input));

const exported = (
  columns: Parameters<typeof chargebackExport>[0]["columns"],
  raw = false,
  tagged = false,
): Statement => {
  const [first] = chargebackExport(
    { window: window(), filters: {}, columns, raw },
    {
      tagged,
      days: [
        { day: "2026-03-01", rows: 3 },
        { day: "2026-03-02", rows: 4 },
      ],
    },
  );
  if (first === undefined) throw new Error("no statement");
  return first;
};

const dimension = {
  ecosystem: "generic_metrics_only",
  tenant_id: "acme",
  env_id: "",
  resource_id: "r-1",
  product_category: "KAFKA",
  product_type: "STORAGE",
  identity_id: "sa-1",
  cost_type: "usage",
};

const split = {
  dimension,
  day: "2026-03-01",
  offset: 100,
  limit: 100,
  row: {
    timestamp: "2026-03-01T00:00:00Z",
    component: 0,
    currency: "EUR",
    line_id: 0,
    hops: [],
  },
};
const passedHop: PassedHop = {
  step: 1,
  identity_id: "idle",
  tier: 0,
  allocation_method: "usage_ratio",
  allocation_detail: "usage_ratio_allocation",
  metric: "cpu",
};
const passedRow: DayRow = {
  ...split.row,
  amount: "1",
  allocation_method: "cost_ratio",
  allocation_detail: "cost_ratio_allocation",
  component_ratio: "1",
  tier: 0,
  metric: "allocated/step-2",
  rules_hash: "a".repeat(64),
  decimal_places: 4,
  rule: "",
  provisional: false,
  path_id: 1,
  passed_path: [passedHop, { ...passedHop, step: 2, identity_id: "kube-system" }],
  total: 1,
};
const tier = (kind: RuleTierRow["kind"], ...sources: string[]): RuleTierRow => ({
  rule: "",
  product_type: "STORAGE",
  component: 0,
  component_ratio: "1",
  ratio_from: 0,
  ratio_to: 1_000_000,
  tier: 0,
  kind,
  sources,
  set_of: "resource",
  allocation_detail: "usage_ratio_allocation",
});
const ticks = ticksOfLine("-10.00005", 4, [{ component: 0, ratio: "1", from: 0n, to: 1_000_000n }], {
  components: 1n,
  residueComponent: 2n,
});
const recipients = (tier: RuleTierRow): Statement => {
  const [component] = ticks.components;
  if (component === undefined) throw new Error("no component");
  const hashes = { recipientsHash: 3n, residueHash: 2n ** 64n - 1n };
  return recipientsOfSplit({
    ...split,
    ...hashes,
    tier,
    columns: ruleColumns(),
    isRecipient: "",
    line: ticks,
    component,
  });
};

/** Reads by the name of their golden file. */
export const reads: Readonly<Record<string, Statement>> = {
  "chargeback-days-unfiltered": chargebackDays(window(), {}),
  "chargeback-days-in-zone": chargebackDays(window({ timezone: "America/Denver" }), {}),
  "chargeback-days-of-identity": chargebackDays(window(), { identity_id: ["sa-1"] }),
  "chargeback-days-every-filter": chargebackDays(window(), everyFilter),
  "chargeback-days-before-1970": chargebackDays(
    window({ start_date: "1900-01-01", end_date: "1901-01-01" }),
    {},
  ),
  "chargeback-dates": chargebackDates(),
  "chargeback-days-tagged": chargebackDays(window(), { tags }),
  "chargeback-page": chargebackPage({ window: window(), filters: {} }, span, 100),
  "chargeback-page-in-zone-every-filter": chargebackPage(
    { window: window({ timezone: "America/Denver" }), filters: { ...everyFilter, tags } },
    span,
    100,
  ),
  "chargeback-page-by-cursor": chargebackPage({ window: window(), filters: {}, position }, span, 102),
  "chargebacks-before": chargebacksBefore({ window: window(), filters: { tags } }, position),
  "aggregate-by-identity": aggregate({}),
  "breakdown-by-identity": breakdownGroups(breakdown({})),
  "breakdown-by-numbers": breakdownGroups(
    breakdown({ groupBy: ["identity_id", "tag:squad", "product_type"], comparedFrom: 1771459200 }),
  ),
  "breakdown-by-reason": breakdownGroups(
    breakdown({
      groupBy: ["allocation_detail"],
      filters: { allocation_detail: ["owner_unknown", "no_identities_located"] },
    }),
  ),
  "breakdown-without-a-cause": breakdownGroups(
    breakdown({
      groupBy: ["allocation_detail", "product_type", "rule"],
      filters: { "not:cause": ["owner_unknown,a\\,b,"] },
    }),
  ),
  "breakdown-compared-and-searched": breakdownGroups(
    breakdown({
      comparedFrom: window().from - 5 * 86_400,
      groupBy: ["resource_id", "tag:squad", "team"],
      filters: { ...everyFilter, tags },
      order: "change",
      search: "gate",
    }),
  ),
  "breakdown-compared-apart": breakdownGroups(
    breakdown({ comparedFrom: 1771459200, comparedTo: 1771459200 + 2 * 86_400 }),
  ),
  "breakdown-with-movers": breakdownGroups(breakdown({ comparedFrom: 1771459200, movers: 5 })),
  "breakdown-over-time": breakdownSeries({ ...breakdown({}), timeBucket: "day" }, [["sa-1"], ["sa-2"]]),
  "breakdown-over-time-by-tag": breakdownSeries(
    { ...breakdown({ groupBy: ["tag:squad", "resource_id"] }), timeBucket: "week" },
    [
      ["payments", "r-1"],
      ["UNTAGGED", "r-1"],
      ["payments", "r-2"],
    ],
  ),
  "change-by-line": changeGroups({
    ...breakdown({ groupBy: ["product_type", "resource_id"] }),
    comparedFrom: 1771459200,
    comparedTo: 1771459200 + 2 * 86_400,
  }),
  "change-by-team-and-tag-every-filter": changeGroups({
    ...breakdown({ groupBy: ["team", "tag:squad"], filters: { ...everyFilter, tags } }),
    comparedFrom: 1771459200,
    comparedTo: window().from,
  }),
  "payers-by-identity": payerSums(window(), "identity_id"),
  "payers-by-team": payerSums(window(), "team"),
  "summed-days": summedDays({ window: window(), filters: {} }),
  "summed-days-of-lines": summedDays({
    window: window(),
    filters: { environment_id: ["env-1"], "not:account_id": ["1"] },
  }),
  "lines-taken-by-rules": lineMatches(window()),
  "tiers-taken-by-rules": tierMatches(window(), ["STORAGE"]),
  "lines-by-product": linesByProduct(window()),
  "lines-by-tag-key": linesByTagKey(window()),
  "lines-by-key-and-product": linesByKeyAndProduct(window(), ["team"], ["STORAGE"]),
  "unallocated-lines": unallocatedLines({
    window: window(),
    filters: {},
    page: 2,
    page_size: 100,
    columns: ruleColumns(),
    sources: [{ tag: "it's" }, { column: "env_id", map: "./accounts.csv" }],
  }),
  "unallocated-lines-without-sources": unallocatedLines({
    window: window(),
    filters: { resource_id: ["r-1"], "not:cause": ["no_identity_on_line,STORAGE,"] },
    page: 1,
    page_size: 100,
    columns: ruleColumns(),
    sources: [],
  }),
  "aggregate-by-resource-columns": aggregate({
    groupBy: [
      "resource_id",
      "product_type",
      "product_category",
      "environment_id",
      "allocation_method",
      "cost_type",
    ],
    timeBucket: "month",
  }),
  "aggregate-of-few": fewBuckets(aggregateInput({ filters: { identity_id: ["sa-1"] } })),
  "aggregate-of-rows": aggregate({
    groupBy: ["identity_id", "resource_id", "product_type"],
    filters: everyFilter,
  }),
  "aggregate-by-hour-in-zone": aggregate({
    window: window({ timezone: "Europe/Berlin" }),
    timeBucket: "hour",
  }),
  "aggregate-by-hour": aggregate({ timeBucket: "hour" }),
  "aggregate-by-week": aggregate({ timeBucket: "week", groupBy: ["product_type"] }),
  "aggregate-by-tag": aggregate({ groupBy: ["tag:squad", "identity_id", "tag:stage"], filters: { tags } }),
  "aggregate-by-team": aggregate({ groupBy: ["team", "cost_type"], filters: { team: ["payments"] } }),
  "aggregate-by-team-and-product": aggregate({
    groupBy: ["product_type", "team"],
    filters: { team: ["search", "UNASSIGNED"], "not:team": ["UNASSIGNED", "payments"] },
  }),
  "extent-by-team": extent({ groupBy: ["team"] }),
  "extent-by-team-and-product": extent({ groupBy: ["team", "product_type"] }),
  "inventory-names": inventoryNames({ identities: ["sa-1"], resources: ["r-1"] }),
  "inventory-costs-of-identities": costsById("identities", window()),
  "inventory-costs-of-resources-in-zone": costsById("resources", window({ timezone: "Europe/Berlin" })),
  "extent-by-identity": extent({}),
  "extent-by-resource-columns-in-zone": extent({
    window: window({ timezone: "Europe/Berlin" }),
    groupBy: ["resource_id", "product_type", "cost_type"],
    timeBucket: "hour",
  }),
  "extent-of-rows": extent({
    groupBy: ["identity_id", "product_type", "cost_type"],
    filters: everyFilter,
    timeBucket: "month",
  }),
  "extent-by-tag": extent({ groupBy: ["tag:squad", "identity_id"], filters: { tags } }),
  "allocation-issues": allocationIssues({ window: window(), filters: {}, page: 3, page_size: 100 }),
  "allocation-issues-in-zone-every-filter": allocationIssues({
    window: window({ timezone: "America/Denver" }),
    filters: { ...everyFilter, tags },
    page: 1,
    page_size: 100,
  }),
  "allocation-issues-by-cause": allocationIssues({
    window: window(),
    filters: { cause: ["owner_unknown,a\\,b,"], "not:cause": ["no_identity_on_line,STORAGE,storage"] },
    page: 1,
    page_size: 100,
  }),
  "allocation-issue-count": allocationIssueCount({
    window: window(),
    filters: everyFilter,
    page: 1,
    page_size: 100,
  }),
  "billing-days": billingDays(window(), {
    product_type: ["STORAGE"],
    resource_id: ["r-1", "r-2"],
    "not:currency": ["USD"],
  }),
  "billing-page": billingPage({ window: window(), filters: { product_type: ["STORAGE"] } }, span, 100),
  "billing-page-by-cursor": billingPage(
    { window: window(), filters: {}, position: billingPosition },
    span,
    103,
  ),
  "billing-before": billingBefore({ window: window(), filters: {} }, billingPosition),
  "dimension-newest-row": newestRow(dimension),
  "dimension-newest-row-of-days": newestRow(dimension, { first_day: "2026-03-01", last_day: "2026-03-02" }),
  "explain-rows": rowsOfDay(dimension, "2026-03-01", {}),
  "explain-one-row": rowsOfDay(dimension, "2026-03-01", {
    timestamp: 1772323200,
    component: 1,
    currency: "EUR",
  }),
  "explain-lines": linesOfDay(dimension, "2026-03-01"),
  "explain-rules-of-step": rulesOfStep({ rules_hash: "a".repeat(64), rule: "by team" }, 1),
  "explain-rules": rulesOfRow({ rules_hash: "a".repeat(64), rule: "by team" }, "STORAGE"),
  "explain-is-published": isPublishedDay("2026-03-01"),
  "explain-facts": factsOfDay({
    dimension,
    day: "2026-03-01",
    metrics: ["in", "out"],
    skipped: [tier("usage", "in", "out"), tier("owner", "owner")],
    tried: [tier("usage", "in")],
    isRecipient: " AND NOT (toString(identity_id) IN ('idle'))",
    charged: digestOfCharged(split),
  }),
  "explain-facts-none-passed": factsOfDay({
    dimension,
    day: "2026-03-01",
    metrics: [],
    skipped: [],
    tried: [],
    isRecipient: "",
    charged: undefined,
  }),
  "explain-recipients-by-usage": recipients(tier("usage", "in", "out")),
  "explain-recipients-of-set": recipients(tier("even", "resource_active")),
  "explain-recipients-nobody": recipients(tier("terminal")),
  "explain-recipients-by-cost-within": recipients({
    ...tier("cost", "cost:1"),
    set_of: "currency@tag.cluster",
  }),
  "explain-charged": chargedOfSplit(split),
  "explain-charged-by-step": chargedOfSplit({ ...split, row: { ...split.row, hops: [passedHop] } }),
  "explain-passing": passingOfRow(dimension, "2026-03-01", passedRow),
  "usage-of-rows": usageOf([["2026-03-01", "in", "r-1"]], ["sa-1"]),
  "scales-of-rows": scalesOf([["2026-03-01", "in", "r-1"]]),
  "days-with-scales": daysWithScales(["2026-03-01"]),
  "parts-of-rows": partsOf([
    ["2026-03-01", "2026-03-01 00:00:00", "env-1", "r-1", "KAFKA", "STORAGE", "USD", 0, 0],
  ]),
  "matching-dimensions": matchingDimensions(window(), {}),
  "matching-dimensions-tagged": matchingDimensions(window(), { tags }),
  "matching-dimensions-every-filter": matchingDimensions(window({ timezone: "America/Denver" }), {
    identity_id: ["sa-1"],
    product_type: ["STORAGE"],
    resource_id: ["r-1"],
    cost_type: ["usage"],
    environment_id: ["env-1"],
    "not:allocation_method": ["terminal"],
    tags: [{ key: "squad", displayNames: ["payments"], isExcluding: true }],
  }),
  "topic-breakdown": topicBreakdown({
    window: window(),
    filters: {},
    groupBy: ["topic_name"],
    limit: 10,
    order: "amount",
  }),
  "topic-breakdown-named-over-time-in-zone-search": topicBreakdown({
    window: window({ timezone: "America/Denver" }),
    filters: { cluster_resource_id: ["lkc-1"] },
    groupBy: ["cluster_resource_id", "product_type"],
    timeBucket: "week",
    limit: 3,
    order: { by: "cluster_resource_id", isDescending: false },
    search: "orders",
  }),
  "changes-of-rules": changesOfRules(window()),
  "tag-presence": tagPresence(),
  "page-lookups": pageLookups([1n, 2n ** 53n + 2n], { identities: ["sa-1"], resources: ["r-1"] }),
  "export-currencies": currenciesInWindow(window()),
  "dimensions-of-day": dimensionsOfDay({ date: "2026-03-01", names: {}, page: 1, page_size: 20 }),
  "dimensions-of-day-named": dimensionsOfDay({
    date: "2026-03-01",
    names: { identity: "sa-1", resource: "r-1", product: "STORAGE", currency: "EUR" },
    page: 3,
    page_size: 20,
  }),
  "export-default": exported(defaultExportColumns),
  "export-raw": exported(["timestamp", "identity_id"], true),
  "export-tagged": exported(defaultExportColumns, false, true),
  "export-every-column": exported(exportColumnNames, false, true),
};
