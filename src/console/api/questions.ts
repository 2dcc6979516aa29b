/** Questions that several views ask. */
import { asParameters, type Period } from "../state/period.js";
import { type Data, useData } from "../state/use-data.js";
import { api, bodyOf, type Schemas } from "./client.js";

/** Whether the bill of the period is what was charged. */
export function useReconciliation(tenant: string, period: Period): Data<Schemas["Reconciliation"]> {
  const params = { path: { tenant_name: tenant }, query: asParameters(period) };
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
