/** Requests that several views use. */
import { joinNames } from "../../common/name-list.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodParameters } from "../state/period.js";
import { type Data, useLoaded } from "../state/use-data.js";
import { issueReasons } from "../text/en.js";
import { type BreakdownRequest, type CauseParameters, requestBreakdown } from "./breakdown.js";
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

type AcceptedCause = Schemas["AcceptedCause"];
type CauseSums = Pick<Schemas["Breakdown"], "groups" | "totals">;

interface CausesRequest {
  readonly tenant: string;
  readonly period: Period;
  readonly causes: CauseParameters;
}

/** Costs that need attention by their causes, the most expensive first, without causes that are accepted. */
export function useCauses(
  tenant: string,
  period: Period,
  accepted: Data<readonly AcceptedCause[]>,
): Data<CauseSums> {
  const causes = leftOutOf(accepted);
  return useLoaded(loadCauses, causes && { tenant, period, causes });
}

/** Costs of these causes alone. */
export const useCostsOf = (tenant: string, period: Period, cause: string[]): Data<CauseSums> =>
  useLoaded(loadCauses, { tenant, period, causes: { cause } });

async function loadCauses(
  { tenant, period, causes }: CausesRequest,
  signal: AbortSignal,
): Promise<CauseSums> {
  if (causes.cause?.length === 0) return { groups: [], totals: [] };
  const request: BreakdownRequest = {
    tenant,
    period,
    causes,
    groupBy: causeColumns,
    filters: [{ column: "allocation_detail", isExcluding: false, values: issueReasons }],
    limit: MAX_CAUSES,
  };
  return await requestBreakdown(request, signal);
}

/** Causes that people accepted, also those whose day has passed. */
export const useAcceptedCauses = (tenant: string) =>
  useApi("/api/v1/tenants/{tenant_name}/accepted-causes", { path: { tenant_name: tenant } });

/** A cause as one text, as in the API and in the address. */
export const causeText = (of: Readonly<Partial<Record<(typeof causeColumns)[number], string>>>) =>
  joinNames(causeColumns.map((column) => of[column] ?? ""));

const LONGEST_QUERY = 8000;

/**
 * Accepted causes that requests leave out, as texts: those whose day has not passed and that fit into the address of a
 * request. Lists keep the others, of very long names.
 */
export function textsOfAccepted(accepted: readonly AcceptedCause[]): string[] {
  let length = 0;
  const texts = accepted.filter(({ is_current }) => is_current).map(causeText);
  return texts.filter((text) => {
    length += encodeURIComponent(`not:cause=${text}&`).length;
    return length <= LONGEST_QUERY;
  });
}

/**
 * Parameters that leave out accepted causes; undefined while these are loading. If they cannot be loaded, nothing is
 * left out.
 */
export function leftOutOf({
  value,
  error,
}: Data<readonly AcceptedCause[]>): Pick<CauseParameters, "not:cause"> | undefined {
  if (value === undefined) return error === undefined ? undefined : {};
  const texts = textsOfAccepted(value);
  return texts.length === 0 ? {} : { "not:cause": texts };
}

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
