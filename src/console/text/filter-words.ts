/** Filters in words. */
import type { Filter } from "../state/filters.js";
import { columnName, en } from "./en.js";

export type WordedFilter = Omit<Filter, "column"> & { readonly column: string };

/** Returns the name of a value, undefined if it has none. */
type NameOf = (value: string) => string | undefined;
const nameless: NameOf = () => undefined;

export const joined = ({ values }: Pick<Filter, "values">, nameOf = nameless) =>
  values.map((value) => nameOf(value) ?? (value === "" ? en.unnamed : value)).join(", ");

export const relationOf = ({ isExcluding }: Pick<Filter, "isExcluding">) =>
  isExcluding ? en.filters.isNot : en.filters.is;

/** `a, b`, or `not a, b` if the filter excludes. */
export const valuesInWords = (filter: WordedFilter, nameOf = nameless) =>
  filter.isExcluding ? `${en.filters.not} ${joined(filter, nameOf)}` : joined(filter, nameOf);

/** `Product is a, b`. */
export const filterInWords = (filter: WordedFilter) =>
  `${columnName(filter.column)} ${relationOf(filter)} ${joined(filter)}`;
