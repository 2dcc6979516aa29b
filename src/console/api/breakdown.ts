/** Requests for sums of chargebacks. */
import { exact } from "../../common/exact-decimal.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodParameters } from "../state/period.js";
import { api, bodyOf, type Schemas } from "./client.js";

export type ShownBreakdown = Schemas["Breakdown"];
export type BreakdownRow = ShownBreakdown["groups"][number];
export type Totals = ShownBreakdown["totals"][number];
/** The fields that groups, others and totals share. */
export type Sums = Omit<Totals, "group_count" | "amounts">;

export interface BreakdownRequest {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly groupBy: readonly string[];
  readonly timeBucket?: string | undefined;
  readonly limit: number;
  readonly order?: "amount" | "change" | undefined;
  readonly compare?: boolean | undefined;
  /** The period to compare with. Default: the same number of days, just before. */
  readonly before?: Period | undefined;
  /** Also return this many groups that changed the most. */
  readonly movers?: number | undefined;
  /** Only groups whose value or name contains this text. */
  readonly search?: string | undefined;
}

/** The request as query parameters of the API. */
function breakdownQuery({
  period,
  filters,
  groupBy,
  timeBucket,
  limit,
  order,
  compare,
  before,
  movers,
  search,
}: BreakdownRequest) {
  return {
    ...periodParameters(period),
    group_by: [...groupBy],
    limit,
    ...(timeBucket !== undefined && { time_bucket: timeBucket }),
    ...(order !== undefined && { order }),
    ...(compare === true && { compare: "previous" }),
    ...(compare === true &&
      before !== undefined && { compare_start_date: before.first, compare_end_date: before.last }),
    ...(movers !== undefined && { movers }),
    ...(search !== undefined && search !== "" && { search }),
    ...filterQuery(filters),
  };
}

export const breakdownKey = (request: BreakdownRequest) =>
  JSON.stringify(["breakdown", request.tenant, breakdownQuery(request)]);

export async function loadBreakdown(request: BreakdownRequest, signal: AbortSignal): Promise<ShownBreakdown> {
  const path = { tenant_name: request.tenant };
  // The names of filters are computed, so they have no static type. The service checks them.
  const query = breakdownQuery(request) as never;
  return await bodyOf(
    api.GET("/api/v1/tenants/{tenant_name}/chargebacks/breakdown", { params: { path, query }, signal }),
  );
}

/** URL of the breakdown itself, for programs. */
export const breakdownAddress = (request: BreakdownRequest) =>
  addressOf(`${tenantPath(request.tenant)}/chargebacks/breakdown`, breakdownQuery(request));

/** URL of the same sums as SQL for BI tools. A statement is either over time or compared, never both. */
export function sqlAddress(request: BreakdownRequest, isOverTime: boolean): string {
  const { timeBucket, compare, ...sums } = request;
  const shown = isOverTime ? { ...sums, timeBucket } : { ...sums, compare };
  return addressOf(`${tenantPath(request.tenant)}/chargebacks/breakdown/sql`, breakdownQuery(shown));
}

/** The default columns of an export, plus the currency of the amount. */
const exportColumns = [
  "timestamp",
  "resource_id",
  "product_category",
  "product_type",
  "identity_id",
  "cost_type",
  "amount",
  "currency",
  "allocation_method",
  "tags",
];

/** File formats to download. Excel reads a CSV as UTF-8 only if it starts with a byte order mark. */
const exportFiles = {
  csv: { format: "csv" },
  excel: { format: "csv", bom: true },
  parquet: { format: "parquet" },
} as const;

/** URL of a file with the rows of the period that match the filters. */
export function exportAddress(
  { tenant, period, filters }: Pick<BreakdownRequest, "tenant" | "period" | "filters">,
  file: keyof typeof exportFiles,
): string {
  return addressOf(`${tenantPath(tenant)}/export`, {
    ...periodParameters(period),
    ...filterQuery(filters),
    columns: exportColumns,
    ...exportFiles[file],
  });
}

const tenantPath = (tenant: string) => `/api/v1/tenants/${encodeURIComponent(tenant)}`;

function addressOf(path: string, query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) parameters.append(name, String(item));
  return `${path}?${parameters}`;
}

export const bucketAmount = ({ total_amount }: { readonly total_amount: string }) => exact(total_amount);
