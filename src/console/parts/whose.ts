/** Filters in words, with the names of the identities that they select. */
import { type BreakdownRequest, breakdownKey, loadBreakdown, MAX_GROUPS } from "../api/breakdown.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { useData } from "../state/use-data.js";
import type { Payer } from "../text/change.js";
import { en } from "../text/en.js";
import { valuesInWords } from "../text/filter-words.js";

interface WhoseInput {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
}

/** Returns the values of a filter in words. Identities have their names, once these are loaded. */
export function useFilterNames(
  { tenant, period, filters }: WhoseInput,
  named: (name: string, id: string) => string,
): (filter: Filter) => string {
  const identities = filters.filter(({ column, isExcluding }) => column === "identity_id" && !isExcluding);
  const ids = identities.flatMap(({ values }) => values);
  const request: BreakdownRequest = {
    tenant,
    period,
    filters: identities,
    groupBy: ["identity_id"],
    limit: MAX_GROUPS,
  };
  const loaded = useData(ids.length === 0 ? "no names" : breakdownKey(request), async (signal) =>
    ids.length === 0 ? [] : (await loadBreakdown(request, signal)).groups,
  );
  const names = new Map(
    (loaded.value ?? []).map(({ dimensions, display_names: { identity_id: name } }) => [
      dimensions.identity_id ?? "",
      name,
    ]),
  );
  const withName = (id: string) => {
    const name = names.get(id);
    return name === undefined || name === id ? id : named(name, id);
  };
  return (filter) =>
    identities.includes(filter) ? filter.values.map(withName).join(", ") : valuesInWords(filter);
}

const isOfPayers = ({ column, isExcluding }: Filter) =>
  !isExcluding && (column === "identity_id" || column === "team");

/** Who pays the sum that the filters select, for a sentence. */
export function usePayer(input: WhoseInput): Payer {
  const { tenant, filters } = input;
  const nameOf = useFilterNames(input, (name) => name);
  const payers = filters.filter(isOfPayers);
  const ids = payers.flatMap(({ values }) => values);
  const what = filters.filter((filter) => !isOfPayers(filter) && filter.column !== "currency");
  return {
    who:
      payers.length === 0
        ? tenant
        : ids.every((id) => id === "UNALLOCATED")
          ? en.why.nobody
          : payers.map(nameOf).join(", "),
    verb: ids.length > 1 ? "pay" : ids[0] === "UNALLOCATED" ? "costs" : "pays",
    what: what.map(nameOf).join(", "),
  };
}
