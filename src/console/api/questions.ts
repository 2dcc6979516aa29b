/** Questions that several views ask. */
import { type Filter, filterQuery } from "../state/filters.js";
import { asParameters, type Period } from "../state/period.js";
import { type Data, useData } from "../state/use-data.js";
import { api, bodyOf, type Schemas } from "./client.js";

/** Whether the bill of each day of the period is what was charged. Its lines were compared before the day was published. `filters`: of lines. */
export async function askReconciliation(
  tenant: string,
  period: Period,
  signal: AbortSignal,
  filters: readonly Filter[] = [],
): Promise<Schemas["Reconciliation"]> {
  const query = { ...filterQuery(filters), ...asParameters(period), by_line: false };
  const params = { path: { tenant_name: tenant }, query };
  return await bodyOf(api.GET("/api/v1/tenants/{tenant_name}/reconciliation", { params, signal }));
}

export function useReconciliation(
  tenant: string,
  period: Period,
  filters: readonly Filter[] = [],
): Data<Schemas["Reconciliation"]> {
  return useData(JSON.stringify(["reconciliation", tenant, period, filterQuery(filters)]), (signal) =>
    askReconciliation(tenant, period, signal, filters),
  );
}

interface IssuesQuery {
  readonly page: number;
  readonly page_size: number;
  /** Only those of these reasons. */
  readonly allocation_detail?: Schemas["AllocationIssue"]["allocation_detail"][];
}

/** Allocation issues of the period, the most expensive first. */
export function useIssues(tenant: string, period: Period, asked: IssuesQuery) {
  const params = { path: { tenant_name: tenant }, query: { ...asParameters(period), ...asked } };
  return useData(JSON.stringify(["issues", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/chargebacks/allocation-issues", { params, signal })),
  );
}

/** How far each day of the period is; days that no run has met yet are not among them. */
export function useDays(tenant: string, period: Period): Data<Schemas["TrackingDate"][]> {
  const params = { path: { tenant_name: tenant }, query: asParameters(period) };
  return useData(JSON.stringify(["days", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/status", { params, signal })),
  );
}

type TagKeys = Schemas["TagKeys"];

/** Keys of the tenant's tags, and of those that the bill's lines of the period have. */
export function useTagKeys(tenant: string, period: Period): Data<TagKeys> {
  const params = { path: { tenant_name: tenant }, query: asParameters(period) };
  return useData(JSON.stringify(["tag keys", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/tag-keys", { params, signal })),
  );
}

/** Columns of tags, beside those that every tenant has; none until the keys are known. */
export function tagColumnsOf({ value }: Data<TagKeys>): string[] {
  const { tag_keys = [], line_tag_keys = [] } = value ?? {};
  return [...tag_keys.map((key) => `tag:${key}`), ...line_tag_keys.map((key) => `line_tag:${key}`)];
}
