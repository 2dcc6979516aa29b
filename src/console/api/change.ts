/** Requests for the causes of a change, and which of them matter most. */
import { compare, type Exact, exact, minus, sumOf } from "../../common/exact-decimal.js";
import { absolute } from "../money/amount-text.js";
import { type Filter, filterQuery } from "../state/filters.js";
import { type Period, periodBefore, periodParameters } from "../state/period.js";
import { type Data, useLoaded } from "../state/use-data.js";
import type { Schemas } from "./client.js";
import { loadComparison, type PeriodComparison } from "./comparison.js";
import { get } from "./use-api.js";

export type ShownChange = Schemas["Change"];
export type ChangeGroup = ShownChange["groups"][number];
export type ChangeSums = ShownChange["totals"][number];
export type Cause = keyof ChangeSums["causes"];

export interface ChangeRequest {
  readonly tenant: string;
  readonly period: Period;
  readonly before: Period;
  readonly filters: readonly Filter[];
  readonly groupBy: readonly string[];
  readonly limit: number;
}

export function loadChange(
  { tenant, period, before, filters, groupBy, limit }: ChangeRequest,
  signal: AbortSignal,
): Promise<ShownChange> {
  const query = {
    ...periodParameters(period),
    compare_start_date: before.first,
    compare_end_date: before.last,
    group_by: [...groupBy],
    limit,
    ...filterQuery(filters),
  };
  const params = { path: { tenant_name: tenant }, query };
  return get("/api/v1/tenants/{tenant_name}/chargebacks/change", params, signal);
}

/** The change of a sum against the period before. */
export interface ComparedChange {
  readonly comparison: PeriodComparison;
  readonly lines: ShownChange;
  readonly products: ShownChange;
}

export const LINE = ["product_type", "resource_id"];
const MOST_GROUPS = 50;

/** Loads the change by product and resource, and by product. Default of `before`: the period before. */
export function useSumChange({
  tenant,
  period,
  before = periodBefore(period),
  filters,
}: Pick<SumRequest, "tenant" | "period" | "filters"> & {
  readonly before?: Period | undefined;
}): Data<ComparedChange> {
  return useLoaded(loadSumChange, { tenant, period, before, filters });
}

type SumRequest = Omit<ChangeRequest, "groupBy" | "limit">;

async function loadSumChange(sum: SumRequest, signal: AbortSignal): Promise<ComparedChange> {
  const comparison = await loadComparison(sum.tenant, sum.period, sum.before, signal);
  const load = (groupBy: readonly string[]) =>
    loadChange({ ...sum, before: comparison.before, groupBy, limit: MOST_GROUPS }, signal);
  const [lines, products] = await Promise.all([load(LINE), load(LINE.slice(0, 1))]);
  return { comparison, lines, products };
}

/** A part of a change: one cause in one group. */
export interface Reason {
  readonly cause: Cause;
  readonly amount: Exact;
  readonly group: ChangeGroup;
}

export interface Reasons {
  readonly largest: readonly Reason[];
  /** The change less the largest reasons. */
  readonly rest: Exact;
}

const MOST_REASONS = 3;

export function causesOf({ causes }: Pick<ChangeSums, "causes">): { cause: Cause; amount: Exact }[] {
  return (Object.keys(causes) as Cause[])
    .map((cause) => ({ cause, amount: exact(causes[cause]) }))
    .filter(({ amount }) => amount.units !== 0n);
}

/** The parts of the change with the largest amounts, whatever their sign. */
function reasonsOf({ groups, totals }: ShownChange, currency: string): Reasons {
  const largest = groups
    .filter((group) => group.currency === currency)
    .flatMap((group) => causesOf(group).map((part): Reason => ({ ...part, group })))
    .sort((a, b) => compare(absolute(b.amount), absolute(a.amount)))
    .slice(0, MOST_REASONS);
  const change = totals.find((each) => each.currency === currency)?.change ?? "0";
  return { largest, rest: minus(exact(change), sumOf(largest.map(({ amount }) => amount))) };
}

/** The reasons to name in a sentence: those of resources, unless most of the change is in many small ones. */
export function namedReasons({ lines, products }: ComparedChange, currency: string): Reasons {
  const reasons = reasonsOf(lines, currency);
  const told = sumOf(reasons.largest.map(({ amount }) => amount));
  return compare(absolute(reasons.rest), absolute(told)) <= 0 ? reasons : reasonsOf(products, currency);
}
