/** Links from a sum to why it changed. */
import type { BreakdownRow } from "../api/breakdown.js";
import { type Filter, filterParameters, filtersOf, isFilterable, isFilterColumn } from "../state/filters.js";
import { changed, type Place } from "../state/location.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";

/** The parameter of the address that opens the drawer. Its value has the filters of the sum, besides those of the view. */
export const WHY_SUM = "why_sum";

interface SumProps {
  readonly place: Place;
  readonly currency: string;
  /** The group whose sum it is. Default: all groups of the currency. */
  readonly group?: BreakdownRow | undefined;
  readonly name: string;
}

/** Renders nothing for a group that no filter selects. */
export function WhySumLink({ place, currency, group, name }: SumProps) {
  const values = { ...group?.dimensions, currency };
  const columns = Object.entries(values).filter((entry) => isFilterColumn(entry[0]));
  if (columns.some(([column, value]) => !isFilterable(column, value))) return null;
  const narrowed = columns.map(([column, value]) =>
    filterParameters({ column: column as Filter["column"], isExcluding: false, values: [value] }),
  );
  const parameters = changed({ path: "", query: new URLSearchParams() }, Object.assign({}, ...narrowed));
  return (
    <Link href={changed(place, { [WHY_SUM]: parameters.slice(1) })} aria-label={en.why.openOf(name)}>
      {en.why.open}
    </Link>
  );
}

/** The filters of the view, with those of the sum instead of the view's on the same columns. */
export function filtersOfSum(place: Place, value: string): Filter[] {
  const own = filtersOf({ path: "", query: new URLSearchParams(value) });
  const replaced = new Set(own.filter(({ isExcluding }) => !isExcluding).map(({ column }) => column));
  return [
    ...filtersOf(place).filter(({ column, isExcluding }) => isExcluding || !replaced.has(column)),
    ...own,
  ];
}
