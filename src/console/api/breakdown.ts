/** Requests for sums of chargebacks. */
import { exact } from "../../common/exact-decimal.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodParameters } from "../state/period.js";
import { type Data, useLoaded } from "../state/use-data.js";
import type { Schemas } from "./client.js";
import { get } from "./use-api.js";

/** A breakdown with the request that was sent at last, so that sums are never shown under the days of another one. */
export type ShownBreakdown = Schemas["Breakdown"] & { readonly request: BreakdownRequest };
export type BreakdownRow = ShownBreakdown["groups"][number];
export type Others = ShownBreakdown["others"][number];
export type Totals = ShownBreakdown["totals"][number];
/** The fields that groups, others and totals share. */
export type Sums = Omit<Totals, "group_count" | "amounts">;

export interface BreakdownRequest {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly causes?: CauseParameters;
  readonly groupBy: readonly string[];
  readonly timeBucket?: string | undefined;
  readonly limit: number;
  /** As in the API, such as `change.desc`. Default: the largest first. */
  readonly order?: string | undefined;
  readonly compare?: boolean | undefined;
  /** The period to compare with. Default: the same number of days, just before. */
  readonly before?: Period | undefined;
  /** Also return this many groups that changed the most. */
  readonly movers?: number | undefined;
  /** Another cost of the bill to sum than the charged one. */
  readonly cost?: OtherCost | undefined;
  /** Only groups whose value or name contains this text. */
  readonly search?: string | undefined;
}

/** Only costs of these causes of allocation issues, or none of them, as texts of the API. */
export type CauseParameters = Readonly<Partial<Record<"cause" | "not:cause", string[]>>>;

/** The costs of a FOCUS bill besides the one that is charged. */
export const otherCosts = ["billed", "effective", "list"] as const;
export type OtherCost = (typeof otherCosts)[number];

/** The request as query parameters of the API. The service checks the values that come from the address. */
function breakdownQuery({
  period,
  filters,
  causes,
  groupBy,
  timeBucket,
  limit,
  order,
  compare,
  before,
  movers,
  cost,
  search,
}: BreakdownRequest): object {
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
    ...(cost !== undefined && { cost }),
    ...(search !== undefined && search !== "" && { search }),
    ...filterQuery(filters),
    ...causes,
  };
}

export function requestBreakdown(
  request: BreakdownRequest,
  signal: AbortSignal,
): Promise<Schemas["Breakdown"]> {
  const params = { path: { tenant_name: request.tenant }, query: breakdownQuery(request) };
  return get("/api/v1/tenants/{tenant_name}/chargebacks/breakdown", params, signal);
}

/** For lists and charts with a row for the others: a single group beyond the limit is shown by its name instead. */
export async function loadBreakdown(request: BreakdownRequest, signal: AbortSignal): Promise<ShownBreakdown> {
  const breakdown = await requestBreakdown(request, signal);
  const { limit } = request;
  const isOneLeft = limit < MAX_GROUPS && breakdown.others.some(({ group_count: count }) => count === 1);
  return isOneLeft
    ? await loadBreakdown({ ...request, limit: limit + 1 }, signal)
    : { ...breakdown, request };
}

export const useBreakdown = (request: BreakdownRequest | undefined): Data<ShownBreakdown> =>
  useLoaded(loadBreakdown, request);

/** The largest limit that the API accepts. */
export const MAX_GROUPS = 1000;

/** The fields that a group of chargebacks and a group of topics share. */
export type Group = Pick<BreakdownRow, "currency" | "dimensions" | "display_names" | "amounts">;

interface Groups<Row extends Group, Rest> {
  readonly groups: readonly Row[];
  readonly others: readonly Rest[];
}

/** The groups of a currency as they are listed: first those in the order of the request, then the others. */
export function listed<Row extends Group, Rest extends Pick<Others, "currency">>(
  { groups, others }: Groups<Row, Rest>,
  currency: string,
) {
  const all = groups.filter((group) => group.currency === currency);
  return {
    groups: all.filter((group) => !isUnallocated(group)),
    others: others.find((each) => each.currency === currency),
    /** Costs that nobody pays for, or of no topic. They are always listed last. */
    unallocated: all.find(isUnallocated),
  };
}

/** Whether the group is all that no identity, team or topic was found for, in a list of these alone. */
export function isUnallocated({ dimensions }: Pick<Group, "dimensions">): boolean {
  const [[column = "", value] = [], ...more] = Object.entries(dimensions);
  return more.length === 0 && value !== undefined && noneOf[column] === value;
}

/** The value of a column that stands for nothing found. */
const noneOf: Readonly<Record<string, string>> = {
  identity_id: "UNALLOCATED",
  team: "UNALLOCATED",
  topic_name: "__UNATTRIBUTED__",
};

/** The parts of an amount that a table has columns for: not every tenant has costs that were passed on. */
export function partsOf({ parts }: Sums): (keyof Sums["parts"])[] {
  const isUsed = (part: "passed" | "unallocated") => (parts[part] === "0" ? [] : [part]);
  return ["own", "shared", ...isUsed("passed"), ...isUsed("unallocated")];
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

/**
 * URL of a file with the rows of the period that match the filters. A CSV with a head begins with the period and its
 * state.
 */
export function exportAddress(
  { tenant, period, filters }: Pick<BreakdownRequest, "tenant" | "period" | "filters">,
  file: keyof typeof exportFiles,
  { head = false } = {},
): string {
  return addressOf(`${tenantPath(tenant)}/export`, {
    ...periodParameters(period),
    ...filterQuery(filters),
    columns: exportColumns,
    ...exportFiles[file],
    ...(head && { head }),
  });
}

/** URL of a ZIP with a statement for each identity or team. */
export const statementsAddress = (tenant: string, period: Period, by: string) =>
  addressOf(`${tenantPath(tenant)}/statements`, { ...periodParameters(period), by });

export const tenantPath = (tenant: string) => `/api/v1/tenants/${encodeURIComponent(tenant)}`;

export function addressOf(path: string, query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) parameters.append(name, String(item));
  return `${path}?${parameters}`;
}

export const bucketAmount = ({ total_amount }: { readonly total_amount: string }) => exact(total_amount);
