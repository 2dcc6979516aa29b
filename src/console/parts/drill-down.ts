/** Addresses that narrow the explorer to one group, or show more groups. */
import { type BreakdownRow, MAX_GROUPS, type Totals } from "../api/breakdown.js";
import type { BreakdownResult } from "../api/comparison.js";
import {
  type FilterColumn,
  filterParameters,
  filtersOf,
  isFilterable,
  isFilterColumn,
} from "../state/filters.js";
import { changed, type Place } from "../state/location.js";

/** Numbers of groups to choose from. */
export const limits = [5, 10, 50, 200, MAX_GROUPS];

/**
 * Address after a click on a group: filtered to the group, and grouped by the next column. The trail leads back.
 * Undefined if its rows cannot be filtered.
 */
export function drilled(place: Place, group: BreakdownRow, groupBy: readonly string[]): string | undefined {
  const filters = filtersOf(place);
  const narrowed = groupBy.filter(isFilterColumn);
  const valueIn = (column: string) => group.dimensions[column] ?? "";
  if (narrowed.some((column) => !isFilterable(column, valueIn(column)))) return undefined;
  const changes = narrowed.map((column) =>
    filterParameters({ column, isExcluding: false, values: [valueIn(column)] }),
  );
  const fixed = new Set([...narrowed, ...filters.map(({ column }) => column)]);
  const next = ["resource_id", "identity_id", "product_type", "cost_type"].find(
    (column) => !fixed.has(column as FilterColumn),
  );
  return changed(place, { ...Object.assign({}, ...changes), group_by: next ?? "allocation_method" });
}

/** Address with more groups, for what is summed up as others; undefined if there are none, or no more can be shown. */
export function othersHref(place: Place, { request, breakdown }: BreakdownResult, totals: Totals) {
  const isCut = breakdown.others.some(({ currency }) => currency === totals.currency);
  const next = limits.find((each) => each >= totals.group_count) ?? MAX_GROUPS;
  return isCut && request.limit < MAX_GROUPS ? changed(place, { limit: String(next) }) : undefined;
}
