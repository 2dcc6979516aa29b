/** Questions about sums of chargebacks. */
import { decimal } from "../money/decimal.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { asParameters, type Period } from "../state/period.js";
import { api, bodyOf, type Schemas } from "./client.js";

export type Breakdown = Schemas["Breakdown"];
export type Group = Breakdown["groups"][number];
export type Totals = Breakdown["totals"][number];
/** What groups, others and totals have in common. */
export type Sums = Omit<Totals, "group_count" | "amounts">;

export interface BreakdownQuestion {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly groupBy: readonly string[];
  readonly timeBucket?: string | undefined;
  readonly limit: number;
  readonly order?: "amount" | "change" | undefined;
  readonly compare?: boolean | undefined;
  /** What it is compared with; as many days, just before, unless given. */
  readonly before?: Period | undefined;
  /** So many that changed most, too. */
  readonly movers?: number | undefined;
  /** Only groups whose value or name has this text. */
  readonly search?: string | undefined;
}

/** The question as the query of its address, in the API's own names. */
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
}: BreakdownQuestion) {
  return {
    ...asParameters(period),
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

export const breakdownKey = (question: BreakdownQuestion) =>
  JSON.stringify(["breakdown", question.tenant, breakdownQuery(question)]);

export async function askBreakdown(question: BreakdownQuestion, signal: AbortSignal): Promise<Breakdown> {
  const path = { tenant_name: question.tenant };
  // The filters' names are made here; the service checks them.
  const query = breakdownQuery(question) as never;
  return await bodyOf(
    api.GET("/api/v1/tenants/{tenant_name}/chargebacks/breakdown", { params: { path, query }, signal }),
  );
}

/** Address of the breakdown itself, for programs. */
export const breakdownAddress = (question: BreakdownQuestion) =>
  addressOf(`${tenantPath(question.tenant)}/chargebacks/breakdown`, breakdownQuery(question));

/** Address of the same as SQL for BI tools. Over time, or beside the period before: a statement is one of them. */
export function sqlAddress(question: BreakdownQuestion, isOverTime: boolean): string {
  const { timeBucket, compare, ...sums } = question;
  const asked = isOverTime ? { ...sums, timeBucket } : { ...sums, compare };
  return addressOf(`${tenantPath(question.tenant)}/chargebacks/breakdown/sql`, breakdownQuery(asked));
}

/** Those that an export has if it is asked for none, and the currency of the amount. */
const exported = [
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

/** The files that the console offers. Excel reads a CSV as UTF-8 only if it begins with a byte order mark. */
const exportFiles = {
  csv: { format: "csv" },
  excel: { format: "csv", bom: true },
  parquet: { format: "parquet" },
} as const;

/** Address of a file with the rows of the period under the filters. */
export function exportAddress(
  { tenant, period, filters }: Pick<BreakdownQuestion, "tenant" | "period" | "filters">,
  file: keyof typeof exportFiles,
): string {
  return addressOf(`${tenantPath(tenant)}/export`, {
    ...asParameters(period),
    ...filterQuery(filters),
    columns: exported,
    ...exportFiles[file],
  });
}

const tenantPath = (tenant: string) => `/api/v1/tenants/${encodeURIComponent(tenant)}`;

function addressOf(path: string, query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) parameters.append(name, String(each));
  return `${path}?${parameters}`;
}

export const amountOf = ({ total_amount }: { readonly total_amount: string }) => decimal(total_amount);
