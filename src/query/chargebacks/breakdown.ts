/**
 * Chargebacks by what costs most: the largest groups of a period, the sum of the others, and the totals, over time and, on
 * request, compared with the previous period. The store computes the sums, and only the groups that are returned leave it.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples } from "../../store/clickhouse/statement.js";
import { displayNames } from "../inventory/names.js";
import { distinctColumns, hasNames } from "./aggregate-source.js";
import { breakdownGroups, type GroupSums, type StoredGroup } from "./breakdown-groups.js";
import type { BreakdownInput } from "./breakdown-input.js";
import { breakdownSeries, type StoredAmount } from "./breakdown-series.js";
import { hasNewValues } from "./group-by-codes.js";

/** Plain decimals of one currency. */
export interface BreakdownSums {
  readonly currency: string;
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  readonly row_count: number;
  /** Sum of the period before; only where it is compared. */
  readonly previous_amount?: string;
}

export interface BreakdownGroup extends BreakdownSums {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly display_names: Readonly<Record<string, string>>;
  readonly provisional: boolean;
  /** One for each time bucket; only where there are some. */
  readonly amounts?: string[];
}

export interface BreakdownOthers extends BreakdownSums {
  readonly group_count: number;
}

export interface BreakdownTotals extends BreakdownOthers {
  readonly amounts?: string[];
}

export interface Breakdown {
  readonly time_buckets: string[];
  /** By currency, then in the order that was asked for. */
  readonly groups: BreakdownGroup[];
  /** The groups beyond the limit together; of currencies that have some. */
  readonly others: BreakdownOthers[];
  readonly totals: BreakdownTotals[];
  /** By currency, what changed most first; only where it is asked for. */
  readonly movers?: BreakdownGroup[];
}

/** A publish takes milliseconds: to meet so many in a row takes a fault. */
const ATTEMPTS = 5;

/** What was read in two statements is not of one state. */
class ChangedMeanwhile extends Error {}

export async function readBreakdown(
  client: ClickHouseClient,
  input: BreakdownInput,
  signal?: AbortSignal,
): Promise<Breakdown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(client, input, signal);
    } catch (error) {
      const isUnsteady = error instanceof ChangedMeanwhile || hasNewValues(error);
      if (!isUnsteady || attempt === ATTEMPTS) throw error;
    }
  }
}

async function readOnce(
  client: ClickHouseClient,
  input: BreakdownInput,
  signal?: AbortSignal,
): Promise<Breakdown> {
  const groups = await readTuples<StoredGroup>(client, breakdownGroups(input), signal);
  const { timeBucket } = input;
  if (timeBucket === undefined || groups.length === 0) return breakdownOf(input, groups);
  const wanted = combinationsOf(groups.filter(isGroup(input)), distinctColumns(input.groupBy).length);
  const statement = breakdownSeries({ ...input, timeBucket }, wanted);
  const amounts = await readTuples<StoredAmount>(client, statement, signal);
  // A publish between the two shows in the totals.
  if (input.search === undefined && !sameTotals(groups, amounts))
    throw new ChangedMeanwhile("the chargebacks changed each time they were summed");
  return breakdownOf(input, groups, overTime(amounts, wanted));
}

/** Some rows are there only because they changed. */
const isGroup =
  ({ limit }: BreakdownInput) =>
  ([, , , , , , , , , place]: StoredGroup) =>
    place <= limit;

/** Behind the sums and places of a stored group. */
const FIRST_VALUE = 11;

const valuesOf = (group: StoredGroup, columns: number) =>
  group.slice(FIRST_VALUE, FIRST_VALUE + columns).map(String);

/** A combination of values may have groups in several currencies. */
function combinationsOf(groups: readonly StoredGroup[], columns: number): string[][] {
  const distinct = new Map(
    groups.map((group) => [JSON.stringify(valuesOf(group, columns)), valuesOf(group, columns)]),
  );
  return [...distinct.values()];
}

function sameTotals(groups: readonly StoredGroup[], amounts: readonly StoredAmount[]): boolean {
  const summed = new Map(
    amounts.filter(([label]) => label === "").map(([, currency, , amount]) => [currency, amount]),
  );
  return groups.every(([currency, , , , , , , [total]]) => (summed.get(currency) ?? "0") === total);
}

interface OverTime {
  readonly labels: string[];
  /** Of a combination, or of all groups where none is given. */
  amountsOf(currency: string, values?: readonly string[]): string[];
}

function overTime(amounts: readonly StoredAmount[], wanted: readonly (readonly string[])[]): OverTime {
  const labels = [...new Set(amounts.map(([label]) => label))].filter((label) => label !== "");
  const known = new Map(
    amounts.map(([label, currency, place, amount]) => [JSON.stringify([label, currency, place]), amount]),
  );
  const places = new Map(wanted.map((values, index) => [JSON.stringify(values), index + 1]));
  return {
    labels,
    amountsOf(currency, values) {
      const place = values === undefined ? ALL : (places.get(JSON.stringify(values)) ?? 0);
      return labels.map((label) => known.get(JSON.stringify([label, currency, place])) ?? "0");
    },
  };
}

/** Place of the sums over all groups. */
const ALL = -1;

function breakdownOf(input: BreakdownInput, stored: readonly StoredGroup[], time?: OverTime): Breakdown {
  const columns = distinctColumns(input.groupBy);
  const named = columns.filter(hasNames);
  const sumsOf = (currency: string, [total, usage, shared, rows, previous]: GroupSums): BreakdownSums => ({
    currency,
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    row_count: Number(rows),
    ...(input.comparedFrom !== undefined && { previous_amount: previous }),
  });
  const groupOf = (group: StoredGroup): BreakdownGroup => {
    const [currency, total, usage, shared, rows, previous, provisional] = group;
    const texts = group.slice(FIRST_VALUE).map(String);
    const values = valuesOf(group, columns.length);
    return {
      dimensions: Object.fromEntries(columns.map((name, index) => [name, values[index] ?? ""])),
      display_names: displayNames(columns, named, texts),
      ...sumsOf(currency, [total, usage, shared, rows, previous]),
      provisional: provisional === 1,
      ...(time && isGroup(input)(group) && { amounts: time.amountsOf(currency, values) }),
    };
  };
  const movers = stored
    .filter(([, , , , , , , , , , place]) => place > 0 && place <= input.movers)
    .sort((one, other) => (one[0] === other[0] ? one[10] - other[10] : 0));
  const sumsAndCount = (currency: string, [total, usage, shared, rows, previous, count]: StoredGroup[7]) => ({
    ...sumsOf(currency, [total, usage, shared, rows, previous]),
    group_count: Number(count),
  });
  const totals = new Map<string, BreakdownTotals>();
  const others = new Map<string, BreakdownOthers>();
  for (const group of stored) {
    const [currency, , , , , , , all, left] = group;
    const amounts = time && input.search === undefined && { amounts: time.amountsOf(currency) };
    totals.set(currency, { ...sumsAndCount(currency, all), ...amounts });
    if (left[5] !== "0") others.set(currency, sumsAndCount(currency, left));
  }
  return {
    time_buckets: time?.labels ?? [],
    groups: stored.filter(isGroup(input)).map(groupOf),
    others: [...others.values()],
    totals: [...totals.values()],
    ...(input.movers > 0 && {
      movers: movers.map((group) => {
        const { amounts: _, ...sums } = groupOf(group);
        return sums;
      }),
    }),
  };
}
