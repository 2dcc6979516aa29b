/** Requests that several views use. */
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodParameters } from "../state/period.js";
import type { Changes } from "../state/place.js";
import { type Data, useData } from "../state/use-data.js";
import { issueReasons } from "../text/en.js";
import { type BreakdownRequest, breakdownKey, requestBreakdown } from "./breakdown.js";
import { api, bodyOf, type Schemas } from "./client.js";

/**
 * Compares the bill of each day with its chargebacks. Totals are enough here: the lines of a day were compared before
 * it was published. `filters` may use only columns of billing lines.
 */
export async function loadReconciliation(
  tenant: string,
  period: Period,
  signal: AbortSignal,
  filters: readonly Filter[] = [],
): Promise<Schemas["Reconciliation"]> {
  const query = { ...filterQuery(filters), ...periodParameters(period), by_line: false };
  const params = { path: { tenant_name: tenant }, query };
  return await bodyOf(api.GET("/api/v1/tenants/{tenant_name}/reconciliation", { params, signal }));
}

export function useReconciliation(
  tenant: string,
  period: Period,
  filters: readonly Filter[] = [],
): Data<Schemas["Reconciliation"]> {
  return useData(JSON.stringify(["reconciliation", tenant, period, filterQuery(filters)]), (signal) =>
    loadReconciliation(tenant, period, signal, filters),
  );
}

interface IssuesPage {
  readonly page: number;
  readonly page_size: number;
  /** Parameters of filters. */
  readonly filters?: Changes;
}

/** Allocation issues of the period, the most expensive first. */
export function useIssues(tenant: string, period: Period, { filters, ...page }: IssuesPage) {
  const query = { ...periodParameters(period), ...page, ...filters };
  // The names of filters are computed, so they have no static type. The service checks them.
  const params = { path: { tenant_name: tenant }, query: query as never };
  return useData(JSON.stringify(["issues", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/chargebacks/allocation-issues", { params, signal })),
  );
}

/** A cause is a reason for a product under a rule: one metric, one rule or one map removes it. */
const causeColumns = ["allocation_detail", "product_type", "rule"];

/** Costs that need attention by their causes, the most expensive first. */
export function useCauses(tenant: string, period: Period, limit: number): Data<Schemas["Breakdown"]> {
  const request: BreakdownRequest = {
    tenant,
    period,
    groupBy: causeColumns,
    filters: [{ column: "allocation_detail", isExcluding: false, values: issueReasons }],
    limit,
  };
  return useData(breakdownKey(request), (signal) => requestBreakdown(request, signal));
}

/** The state of each day of the period. Days that no run has seen yet are left out. */
export function useDays(tenant: string, period: Period): Data<Schemas["TrackingDate"][]> {
  const params = { path: { tenant_name: tenant }, query: periodParameters(period) };
  return useData(JSON.stringify(["days", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/status", { params, signal })),
  );
}

/** All days with costs by topic. */
export function useTopicDates(tenant: string): Data<Schemas["TopicAttributionDates"]> {
  const params = { path: { tenant_name: tenant } };
  return useData(JSON.stringify(["topic dates", tenant]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/topic-attributions/dates", { params, signal })),
  );
}

type TagKeys = Schemas["TagKeys"];

/** Keys of the tenant's tags, and of the tags on the billing lines of the period. */
export function useTagKeys(tenant: string, period: Period): Data<TagKeys> {
  const params = { path: { tenant_name: tenant }, query: periodParameters(period) };
  return useData(JSON.stringify(["tag keys", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/tag-keys", { params, signal })),
  );
}

/** Names of the tag columns and of the declared columns. Empty until the tag keys are loaded. */
export function tagColumnsOf({ value }: Data<TagKeys>): string[] {
  const { tag_keys = [], line_tag_keys = [], columns = [] } = value ?? {};
  return [
    ...tag_keys.map((key) => `tag:${key}`),
    ...columns.map((name) => `column:${name}`),
    ...line_tag_keys.map((key) => `line_tag:${key}`),
  ];
}
