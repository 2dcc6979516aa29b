/** The column that the overview splits costs by. */
import { exact } from "../../../common/exact-decimal.js";
import { type BreakdownRequest, isUnallocated, loadBreakdown } from "../../api/breakdown.js";
import { approximate } from "../../money/amount-text.js";
import { splitScore } from "../../money/split.js";
import type { Place } from "../../state/location.js";
import type { Period } from "../../state/period.js";
import { cachedFor } from "../../state/use-data.js";

/** If two of them split the cost about equally well, the first is chosen. */
export const splitColumns = ["team", "product_type", "identity_id"] as const;
export type SplitColumn = (typeof splitColumns)[number];

export const CHART_GROUPS = 8;
const SAME_SCORE = 0.01;
const CHOICE_CACHE_MS = 600_000;

/** The column in the address, if the reader chose one. */
export const chosenSplit = ({ query }: Place): SplitColumn | undefined =>
  splitColumns.find((column) => column === query.get("group_by"));

/** The column whose largest groups split the cost of the period best. */
export async function bestSplit(tenant: string, period: Period, signal: AbortSignal): Promise<SplitColumn> {
  return await cachedFor(CHOICE_CACHE_MS, JSON.stringify(["split", tenant, period]), async () => {
    const scores = await Promise.all(splitColumns.map((column) => scoreOf(column, tenant, period, signal)));
    const enough = Math.max(...scores) - SAME_SCORE;
    return splitColumns.find((_, index) => (scores[index] ?? 0) >= enough) ?? "identity_id";
  });
}

/** Groups of costs that have no name in the column. */
const nameless: ReadonlySet<string | undefined> = new Set(["", "UNASSIGNED"]);

async function scoreOf(column: SplitColumn, tenant: string, period: Period, signal: AbortSignal) {
  const request: BreakdownRequest = { tenant, period, filters: [], groupBy: [column], limit: CHART_GROUPS };
  const { groups, totals } = await loadBreakdown(request, signal);
  const named = groups.filter((group) => !isUnallocated(group) && !nameless.has(group.dimensions[column]));
  const scores = totals.map(({ currency, total_amount: total }) => {
    const whole = approximate(exact(total));
    const amounts = named.filter((group) => group.currency === currency);
    return splitScore(
      amounts.map((group) => (whole === 0 ? 0 : approximate(exact(group.total_amount)) / whole)),
    );
  });
  return scores.reduce((sum, score) => sum + score, 0);
}
