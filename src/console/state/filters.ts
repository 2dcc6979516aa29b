/** Filters of the address, named as the API names them: `identity_id=…`, `tag:team=a,b` for one of several. */
import type { Changes, Place } from "./location.js";

export const filterColumns = [
  "identity_id",
  "team",
  "resource_id",
  "product_type",
  "cost_type",
  "currency",
] as const;
export type FilterColumn = (typeof filterColumns)[number] | `tag:${string}`;

export interface Filter {
  readonly column: FilterColumn;
  /** One, but of tags any number, of which either will do. */
  readonly values: readonly string[];
}

const TAG = "tag:";
const isTag = (column: string): column is `tag:${string}` =>
  column.startsWith(TAG) && column.length > TAG.length;

export function isFilterColumn(name: string): name is FilterColumn {
  return (filterColumns as readonly string[]).includes(name) || isTag(name);
}

export function filtersOf({ query }: Place): Filter[] {
  return [...new Set(query.keys())].filter(isFilterColumn).flatMap((column) => {
    const given = query.get(column) ?? "";
    return given === "" ? [] : [{ column, values: isTag(column) ? splitNames(given) : [given] }];
  });
}

/** As parameters of the address and of the API. */
export function asParameters({ column, values }: Filter): Changes {
  const [value] = values;
  if (value === undefined) return { [column]: undefined };
  return { [column]: isTag(column) ? values.map(escaped).join(",") : value };
}

/** The filter on the column with this value as well, or without it. */
export function toggled(filters: readonly Filter[], column: FilterColumn, value: string): Filter {
  const values = filters.find((each) => each.column === column)?.values ?? [];
  if (values.includes(value)) return { column, values: values.filter((each) => each !== value) };
  return { column, values: isTag(column) ? [...values, value] : [value] };
}

/** All filters as one object of parameters for a request. */
export function filterQuery(filters: readonly Filter[]): Changes {
  return Object.assign({}, ...filters.map(asParameters));
}

const escaped = (name: string) => name.replace(/[\\,]/g, "\\$&");

/** `a\,b,c` is `a,b` and `c`. */
function splitNames(text: string): string[] {
  const names = [""];
  for (const [piece] of text.matchAll(/\\[\\,]|./gsu)) {
    if (piece === ",") names.push("");
    else names[names.length - 1] += piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece;
  }
  return names;
}
