/**
 * Which rows of `chargebacks` a read looks at, as the text behind WHERE: the one place that knows how the table is laid out.
 *
 * Two ways in, and a wrong choice costs a factor of ten:
 * - the table itself, cut by `day`, which leads the key and names the partitions;
 * - a projection (rows summed per timestamp and some columns), which the engine takes by itself, but only when every column
 *   of the query is in it. `day` is in neither, so such a read is cut by `timestamp` alone, which leads their keys.
 */
import { DAY_SECONDS, dayOfSeconds } from "../../time/days.js";
import { ofTeam } from "../inventory/names.js";
import { type TagFilter, UNTAGGED } from "../tags/filter.js";
import { type TagLookup, tagLookup } from "../tags/lookup.js";
import type { DateWindow } from "../time/date-window.js";

/** Filters by equality, and by tags, of which all have to hold; a filter that is left out does not filter. */
export interface ChargebackFilters {
  readonly identity_id?: string | undefined;
  readonly product_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly cost_type?: string | undefined;
  readonly currency?: string | undefined;
  /** Of the identity. */
  readonly team?: string | undefined;
  readonly tags?: readonly TagFilter[] | undefined;
}

const chargebackFilterNames = [
  "identity_id",
  "product_type",
  "resource_id",
  "cost_type",
  "currency",
] as const;

/** Columns that each projection of the table groups by. */
const projections = {
  by_identity: ["timestamp", "identity_id", "cost_type", "currency"],
  by_resource: [
    "timestamp",
    "resource_id",
    "product_type",
    "product_category",
    "env_id",
    "cost_type",
    "allocation_method",
    "currency",
  ],
} as const;

/** A read of sums and counts that uses these columns, and the filters, can be answered from a projection. */
export function isProjected(columns: readonly string[], filters: ChargebackFilters): boolean {
  if (filters.tags !== undefined && filters.tags.length > 0) return false;
  const used = [
    ...columns,
    ...chargebackFilterNames.filter((name) => filters[name] !== undefined),
    ...(filters.team === undefined ? [] : ["identity_id"]),
  ];
  return Object.values(projections).some((has: readonly string[]) =>
    used.every((column) => has.includes(column)),
  );
}

/** Instants that DateTime holds, in seconds since 1970: until 2106-02-07. */
const LAST_INSTANT = 2 ** 32 - 1;

export interface Condition {
  readonly condition: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** For reads of the table itself. The instants are compared only where the window does not begin and end with a UTC day. */
export function rowsInWindow(window: Pick<DateWindow, "from" | "to">): Condition {
  const { from, to } = storable(window);
  const params = { first_day: dayOfSeconds(from), last_day: dayOfSeconds(Math.max(to - 1, 0)) };
  const days = "day >= {first_day:Date} AND day <= {last_day:Date}";
  if (from >= to) return { condition: "0", params: {} };
  if (from % DAY_SECONDS === 0 && (to % DAY_SECONDS === 0 || to === LAST_INSTANT))
    return { condition: days, params };
  const { condition, params: instants } = instantsInWindow(window);
  return { condition: `${days} AND ${condition}`, params: { ...params, ...instants } };
}

/** For reads that a projection answers. */
export function instantsInWindow(window: Pick<DateWindow, "from" | "to">): Condition {
  const { from, to } = storable(window);
  return {
    condition: "timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}",
    params: { from: utcInstant(from), to: utcInstant(to) },
  };
}

/** The filters by equality as conditions, ready to follow another one. */
export function equalTo(filters: Omit<ChargebackFilters, "tags" | "team">): Condition {
  const used = chargebackFilterNames.filter((name) => filters[name] !== undefined);
  return {
    condition: used.map((name) => ` AND ${name} = {${name}:String}`).join(""),
    params: Object.fromEntries(used.map((name) => [name, filters[name]])),
  };
}

export interface Filtered extends Condition {
  /** Stand behind the WITH of the whole statement. */
  readonly names: readonly string[];
}

/** All filters as conditions, ready to follow another one. */
export function filtered(filters: ChargebackFilters): Filtered {
  const equal = equalTo(filters);
  const { team } = filters;
  const tagged = (filters.tags ?? []).map(({ key, names }, index) =>
    withTag(tagLookup(key, `f${index}`), names, index),
  );
  return {
    names: tagged.flatMap((each) => each.names),
    condition:
      equal.condition +
      (team === undefined ? "" : ofTeam(team)) +
      tagged.map((each) => each.condition).join(""),
    params: Object.assign(
      {},
      equal.params,
      team === undefined ? {} : { team },
      ...tagged.map((each) => each.params),
    ),
  };
}

/** Unless untagged rows are wanted too, only rows that share identity and resource with a wanted dimension are looked up. */
function withTag(lookup: TagLookup, wanted: readonly string[], index: number): Filtered {
  const values = `{tag_names_${index}:Array(String)}`;
  const places = `arrayFilter(place -> has(${values}, ${lookup.displayNames}[place]), arrayEnumerate(${lookup.displayNames}))`;
  const oneOf = (column: string) =>
    ` AND ${column} IN (SELECT ${column} FROM ${lookup.tagged} WHERE has(${values}, name))`;
  const near = wanted.includes(UNTAGGED) ? "" : oneOf("resource_id") + oneOf("identity_id");
  return {
    names: lookup.names,
    condition: `${near} AND has(${places}, ${lookup.place})`,
    params: { ...lookup.params, [`tag_names_${index}`]: wanted },
  };
}

/** WITH and the names, of which there may be none. */
export function withNames(...names: readonly string[]): string {
  return names.length === 0 ? "" : `WITH\n  ${names.join(",\n  ")}\n`;
}

/** What of a window the stores can hold. */
export function storable({ from, to }: Pick<DateWindow, "from" | "to">) {
  const clamp = (instant: number) => Math.min(Math.max(instant, 0), LAST_INSTANT);
  return { from: clamp(from), to: clamp(to) };
}

/** `YYYY-MM-DD hh:mm:ss`, the form of a DateTime parameter. */
export function utcInstant(instant: number): string {
  return new Date(instant * 1000).toISOString().slice(0, 19).replace("T", " ");
}
