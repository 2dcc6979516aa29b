/**
 * Chargebacks by cost: the largest groups of a period, the sum of the others, and the totals, over time and, on
 * request, compared with the previous period. The store computes the sums and sends only the groups that are returned.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, readTuples } from "../../clickhouse/statement.js";
import { differenceText, sumText } from "../../common/exact-decimal.js";
import { costColumns } from "../../domain/other-costs.js";
import { displayNames } from "../inventory/names.js";
import { InvalidParameterError } from "../time/date-window.js";
import { passedAmount } from "./aggregate-result.js";
import {
  type BreakdownInput,
  breakdownGroups,
  breakdownSeries,
  firstDayWithoutCost,
  type GroupSums,
  type StoredAmount,
  type StoredGroup,
} from "./breakdown-statements.js";
import { hasNewValues } from "./group-by-codes.js";
import { distinctColumns, hasNames } from "./summed-rows.js";

/** Plain decimals of one currency. */
export interface BreakdownSums {
  readonly currency: string;
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  readonly passed_amount: string;
  readonly row_count: number;
  /** The total amount in parts that add up to it. */
  readonly parts: Readonly<Record<"own" | "shared" | "passed" | "unallocated", string>>;
  /** Sum of the previous period; set only in a comparison. */
  readonly previous_amount?: string;
}

export interface BreakdownGroup extends BreakdownSums {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly display_names: Readonly<Record<string, string>>;
  readonly provisional: boolean;
  /** One per time bucket; set only with time buckets. */
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
  /** By currency, then in the requested order. */
  readonly groups: BreakdownGroup[];
  /** Sum of the groups beyond the limit; only for currencies that have some. */
  readonly others: BreakdownOthers[];
  readonly totals: BreakdownTotals[];
  /** By currency, the largest change first; set only if requested. */
  readonly movers?: BreakdownGroup[];
}

/** A publish takes milliseconds, so that many in a row indicate a fault. */
const ATTEMPTS = 5;

/** Two statements have read different states of the rows. */
class DataChangedError extends Error {}

export async function readBreakdown(
  client: ClickHouseClient,
  input: BreakdownInput,
  signal?: AbortSignal,
): Promise<Breakdown> {
  await requireCost(client, input, signal);
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(client, input, signal);
    } catch (error) {
      const isRetryable = error instanceof DataChangedError || hasNewValues(error);
      if (!isRetryable || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Throws InvalidParameterError if chargebacks of the periods lack the requested cost. */
async function requireCost(
  client: ClickHouseClient,
  input: BreakdownInput,
  signal?: AbortSignal,
): Promise<void> {
  const column = costColumns[input.cost ?? "charged"];
  if (column === undefined) return;
  const [found] = await readRows<{ first: string | null }>(
    client,
    firstDayWithoutCost(input, column),
    signal,
  );
  if (found === undefined || found.first === null) return;
  throw new InvalidParameterError(
    "cost",
    `\`cost\` must be charged: the chargebacks of ${found.first} have no other cost. Only bills of the ecosystem focus have several, and days that an earlier version calculated get them by \`chargehouse run --force\`.`,
  );
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
  // A publish between the two statements shows in the totals.
  if (input.search === undefined && !sameTotals(groups, amounts))
    throw new DataChangedError("the chargebacks changed each time they were summed");
  return breakdownOf(input, groups, overTime(amounts, wanted));
}

/** Excludes rows that are returned only because they changed most. */
const isGroup =
  ({ limit }: BreakdownInput) =>
  ([, , , , , position]: StoredGroup) =>
    position <= limit;

/** Index of the first value in a stored group, after its sums and ranks. */
const FIRST_VALUE = 7;

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
  return groups.every(([currency, , , [, total]]) => (summed.get(currency) ?? "0") === total);
}

interface OverTime {
  readonly labels: string[];
  /** Returns amounts of a combination, or of all groups without one. */
  amountsOf(currency: string, values?: readonly string[]): string[];
}

function overTime(amounts: readonly StoredAmount[], wanted: readonly (readonly string[])[]): OverTime {
  const labels = [...new Set(amounts.map(([label]) => label))].filter((label) => label !== "");
  const amountsByKey = new Map(
    amounts.map(([label, currency, position, amount]) => [
      JSON.stringify([label, currency, position]),
      amount,
    ]),
  );
  const positions = new Map(wanted.map((values, index) => [JSON.stringify(values), index + 1]));
  return {
    labels,
    amountsOf(currency, values) {
      const position = values === undefined ? ALL : (positions.get(JSON.stringify(values)) ?? 0);
      return labels.map((label) => amountsByKey.get(JSON.stringify([label, currency, position])) ?? "0");
    },
  };
}

/** Position of the sums over all groups. */
const ALL = -1;

function breakdownOf(input: BreakdownInput, stored: readonly StoredGroup[], time?: OverTime): Breakdown {
  const columns = distinctColumns(input.groupBy);
  const named = columns.filter(hasNames);
  const sumsOf = (currency: string, sums: GroupSums): BreakdownSums => {
    const [total, usage, shared, rows, previous, own, sharedAmong, unallocated] = sums;
    const passed = differenceText(total, sumText([own, sharedAmong, unallocated]));
    return {
      currency,
      total_amount: total,
      usage_amount: usage,
      shared_amount: shared,
      passed_amount: passedAmount(total, usage, shared),
      row_count: Number(rows),
      parts: { own, shared: sharedAmong, passed, unallocated },
      ...(input.comparedFrom !== undefined && { previous_amount: previous }),
    };
  };
  const groupOf = (group: StoredGroup): BreakdownGroup => {
    const [currency, sums, provisional] = group;
    const texts = group.slice(FIRST_VALUE).map(String);
    const values = valuesOf(group, columns.length);
    return {
      dimensions: Object.fromEntries(columns.map((name, index) => [name, values[index] ?? ""])),
      display_names: displayNames(columns, named, texts),
      ...sumsOf(currency, sums),
      provisional: provisional === 1,
      ...(time && isGroup(input)(group) && { amounts: time.amountsOf(currency, values) }),
    };
  };
  const movers = stored
    .filter(([, , , , , , position]) => position > 0 && position <= input.movers)
    .sort((one, other) => (one[0] === other[0] ? one[6] - other[6] : 0));
  const sumsAndCount = (currency: string, [count, ...sums]: StoredGroup[3]) => ({
    ...sumsOf(currency, sums),
    group_count: Number(count),
  });
  const totals = new Map<string, BreakdownTotals>();
  const others = new Map<string, BreakdownOthers>();
  for (const group of stored) {
    const [currency, , , all, rest] = group;
    const amounts = time && input.search === undefined && { amounts: time.amountsOf(currency) };
    totals.set(currency, { ...sumsAndCount(currency, all), ...amounts });
    if (rest[0] !== "0") others.set(currency, sumsAndCount(currency, rest));
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
