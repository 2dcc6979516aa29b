/**
 * Filters in the address. They have the names of the API's parameters: `identity_id=…`, which may be repeated,
 * `tag:team=a,b`, and `not:` before the name to exclude values.
 */
import { joinNames, splitNames } from "../../common/name-list.js";
import type { Changes, Place } from "./place.js";

export const shownFilterColumns = [
  "identity_id",
  "team",
  "resource_id",
  "product_type",
  "product_category",
  "environment_id",
  "cost_type",
  "allocation_method",
  "allocation_detail",
  "passed_from",
  "currency",
  "charge_category",
  "service_provider",
  "account_id",
  "region_id",
  "sku_id",
  "rule",
] as const;
/** Tags, and declared columns of the bill, which are filtered like tags. */
type TagName = `tag:${string}` | `line_tag:${string}` | `column:${string}`;
export type FilterColumn = (typeof shownFilterColumns)[number] | TagName;

/** Columns whose empty value can be filtered by. */
const emptyColumns: ReadonlySet<string> = new Set<FilterColumn>([
  "environment_id",
  "passed_from",
  "charge_category",
  "service_provider",
  "account_id",
  "region_id",
  "sku_id",
  "rule",
]);

/** Columns in which a billing line has another value than its chargebacks, or none. */
const notOfLines: ReadonlySet<string> = new Set<FilterColumn>([
  "identity_id",
  "team",
  "cost_type",
  "allocation_method",
  "allocation_detail",
  "passed_from",
]);

/** Whether the filter applies to billing lines, too: it keeps or drops a line together with all its chargebacks. */
export function isOfLines({ column }: Filter): boolean {
  return !isTag(column) && !notOfLines.has(column);
}

/** Whether rows with this value can be filtered. */
export function isFilterable(column: string, value: string): boolean {
  return value !== "" || emptyColumns.has(column);
}

export interface Filter {
  readonly column: FilterColumn;
  /** Whether rows with one of the values are excluded. Otherwise, only they are shown. */
  readonly isExcluding: boolean;
  readonly values: readonly string[];
}

const NOT = "not:";

/** The column of a filter parameter, with or without `not:`. */
export const columnOfFilter = (name: string) => (name.startsWith(NOT) ? name.slice(NOT.length) : name);
const isTag = (column: string): column is TagName => /^((line_)?tag|column):./.test(column);

export function isFilterColumn(name: string): name is FilterColumn {
  return (shownFilterColumns as readonly string[]).includes(name) || isTag(name);
}

export function filtersOf({ query }: Place): Filter[] {
  return [...new Set(query.keys())].flatMap((name) => {
    const isExcluding = name.startsWith(NOT);
    const column = columnOfFilter(name);
    if (!isFilterColumn(column)) return [];
    const present = query.getAll(name).filter((value) => isFilterable(column, value));
    // Values are alternatives. A tag may have several parameters, each with its own values; rows must match all of
    // them.
    const alternatives = isTag(column) ? present.map(splitNames) : present.length === 0 ? [] : [present];
    return alternatives.map((values) => ({ column, isExcluding, values }));
  });
}

/** The filter as parameters of the address and of the API. */
export function filterParameters({ column, isExcluding, values }: Filter): Changes {
  const name = isExcluding ? `${NOT}${column}` : column;
  if (values.length === 0) return { [name]: undefined };
  return { [name]: isTag(column) ? joinNames(values) : values };
}

/** Changes of the address that add the value to the filter, or remove it if the filter has it already. */
export function toggled(
  filters: readonly Filter[],
  {
    column,
    value,
    isExcluding,
  }: { readonly column: FilterColumn; readonly value: string; readonly isExcluding: boolean },
): Changes {
  const valuesOf = (excluding: boolean) =>
    filters.flatMap((each) => (each.column === column && each.isExcluding === excluding ? each.values : []));
  const without = (values: readonly string[]) => values.filter((each) => each !== value);
  const values = valuesOf(isExcluding);
  return {
    ...filterParameters({
      column,
      isExcluding,
      values: values.includes(value) ? without(values) : [...values, value],
    }),
    ...filterParameters({ column, isExcluding: !isExcluding, values: without(valuesOf(!isExcluding)) }),
  };
}

/** Changes of the address that remove all `filters` except `kept`. */
export function withOnly(filters: readonly Filter[], kept: readonly Filter[]): Changes {
  const none = filters.map((filter) => filterParameters({ ...filter, values: [] }));
  return Object.assign({}, ...none, filterQuery(kept));
}

/**
 * All filters as one object, which works as query parameters and as fields of a request body. Its names are computed,
 * so they have no static type. The service checks them.
 */
export function filterQuery(filters: readonly Filter[]): object {
  const query: Record<string, string | readonly string[]> = {};
  for (const [name, value] of filters.flatMap((filter) => Object.entries(filterParameters(filter)))) {
    if (value === undefined) continue;
    const before = query[name];
    query[name] = before === undefined ? value : [...[before].flat(), ...[value].flat()];
  }
  return query;
}
