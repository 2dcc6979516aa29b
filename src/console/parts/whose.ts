/** Filters in words, with the names of the identities that they select. */
import { type BreakdownRequest, MAX_GROUPS, useBreakdown } from "../api/breakdown.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import type { Payer } from "../text/change.js";
import { en } from "../text/en.js";
import { valuesInWords } from "../text/filter-words.js";

interface WhoseInput {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
}

/** The name of a value of a column; undefined if it has none. */
export type Names = (column: string, value: string) => string | undefined;

/** Names of the identities and resources that the filters contain. Undefined while they are loading. */
export function useNames(input: WhoseInput): Names | undefined {
  const identities = useNamesOf(input, "identity_id");
  const resources = useNamesOf(input, "resource_id");
  if (identities === undefined || resources === undefined) return undefined;
  const named = { identity_id: identities, resource_id: resources };
  return (column, value) => named[column as keyof typeof named]?.get(value);
}

function useNamesOf(
  { tenant, period, filters }: WhoseInput,
  column: "identity_id" | "resource_id",
): ReadonlyMap<string, string> | undefined {
  const values = filters.filter((filter) => filter.column === column).flatMap((filter) => filter.values);
  const request: BreakdownRequest = {
    tenant,
    period,
    filters: [{ column, isExcluding: false, values: [...new Set(values)] }],
    groupBy: [column],
    limit: MAX_GROUPS,
  };
  const { value, error } = useBreakdown(values.length === 0 ? undefined : request);
  if (values.length > 0 && value === undefined && error === undefined) return undefined;
  const named = (value?.groups ?? []).flatMap(({ dimensions, display_names: { [column]: name } }) =>
    name === undefined || name === dimensions[column] ? [] : [[dimensions[column] ?? "", name] as const],
  );
  return new Map(named);
}

const isOfPayers = ({ column, isExcluding }: Filter) =>
  !isExcluding && (column === "identity_id" || column === "team");

/** Returns the payer of the sum that the filters select, in words for a sentence. */
export function usePayer(input: WhoseInput): Payer {
  const { tenant, filters } = input;
  const names = useNames(input);
  const wordsOf = (filter: Filter) => valuesInWords(filter, (value) => names?.(filter.column, value));
  const payers = filters.filter(isOfPayers);
  const ids = payers.flatMap(({ values }) => values);
  const what = filters.filter((filter) => !isOfPayers(filter) && filter.column !== "currency");
  return {
    who:
      payers.length === 0
        ? tenant
        : ids.every((id) => id === "UNALLOCATED")
          ? en.why.nobody
          : payers.map(wordsOf).join(", "),
    verb: ids.length > 1 ? "pay" : ids[0] === "UNALLOCATED" ? "costs" : "pays",
    what: what.map(wordsOf).join(", "),
  };
}
