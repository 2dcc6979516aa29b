/** Requests that several views use. */
import { joinNames } from "../../common/name-list.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodParameters } from "../state/period.js";
import { type Data, useLoaded } from "../state/use-data.js";
import { issueReasons } from "../text/en.js";
import { type BreakdownRequest, requestBreakdown } from "./breakdown.js";
import type { Schemas } from "./client.js";
import { useApi } from "./use-api.js";

/**
 * Compares the bill of each day with its chargebacks. Totals are enough here: the lines of a day were compared before
 * it was published. `filters` may use only columns of billing lines.
 */
export const reconciliation = (tenant: string, period: Period, filters: readonly Filter[] = []) =>
  [
    "/api/v1/tenants/{tenant_name}/reconciliation",
    {
      path: { tenant_name: tenant },
      query: { ...filterQuery(filters), ...periodParameters(period), by_line: false },
    },
  ] as const;

export const useReconciliation = (...of: Parameters<typeof reconciliation>) =>
  useApi(...reconciliation(...of));

/** A cause is a reason for a product under a rule: one metric, one rule or one map removes it. */
const causeColumns = ["allocation_detail", "product_type", "rule"] as const;
const MAX_CAUSES = 200;

/** Costs that need attention by their causes, the most expensive first, also those of accepted causes. */
export function useCauses(tenant: string, period: Period): Data<Schemas["Breakdown"]> {
  const request: BreakdownRequest = {
    tenant,
    period,
    groupBy: causeColumns,
    filters: [{ column: "allocation_detail", isExcluding: false, values: issueReasons }],
    limit: MAX_CAUSES,
  };
  return useLoaded(requestBreakdown, request);
}

/** Causes that people accepted, also those whose day has passed. */
export const useAcceptedCauses = (tenant: string) =>
  useApi("/api/v1/tenants/{tenant_name}/accepted-causes", { path: { tenant_name: tenant } });

/** A cause as one text, as in the API and in the address. */
export const causeText = (of: Readonly<Partial<Record<(typeof causeColumns)[number], string>>>) =>
  joinNames(causeColumns.map((column) => of[column] ?? ""));

/** Accepted causes, as texts. */
export const textsOfAccepted = (accepted: readonly Schemas["AcceptedCause"][]): readonly string[] =>
  accepted.filter(({ is_current }) => is_current).map(causeText);

type TagKeys = Schemas["TagKeys"];

/** Keys of the tenant's tags, and of the tags on the billing lines of the period. */
export function useTagKeys(tenant: string, period: Period): Data<TagKeys> {
  const params = { path: { tenant_name: tenant }, query: periodParameters(period) };
  return useApi("/api/v1/tenants/{tenant_name}/tag-keys", params);
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
