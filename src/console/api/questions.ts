/** Questions that several views ask. */
import { asParameters, type Period } from "../state/period.js";
import { type Data, useData } from "../state/use-data.js";
import { api, bodyOf, type Schemas } from "./client.js";

/** Whether the bill of each day of the period is what was charged. Its lines were compared before the day was published. */
export function useReconciliation(tenant: string, period: Period): Data<Schemas["Reconciliation"]> {
  const params = { path: { tenant_name: tenant }, query: { ...asParameters(period), by_line: false } };
  return useData(JSON.stringify(["reconciliation", params]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/reconciliation", { params, signal })),
  );
}

/** Allocation issues of the period, the most expensive first. */
export function useIssues(tenant: string, period: Period, paging: { page?: number; page_size: number }) {
  const params = { path: { tenant_name: tenant }, query: { ...asParameters(period), ...paging } };
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

/** Keys of the tenant's tags, ascending. */
export function useTagKeys(tenant: string): Data<readonly string[]> {
  const params = { path: { tenant_name: tenant }, query: { page_size: 1000 } };
  return useData(JSON.stringify(["tag keys", params]), async (signal) => {
    const { items } = await bodyOf(api.GET("/api/v1/tenants/{tenant_name}/tags", { params, signal }));
    return [...new Set(items.map(({ tag_key }) => tag_key))].sort();
  });
}
