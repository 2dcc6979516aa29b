/** Why a sum of chargebacks changed from one period to another. The store computes the causes. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples } from "../../clickhouse/statement.js";
import { decimalText } from "../../common/exact-decimal.js";
import { displayNames } from "../inventory/names.js";
import { type ChangeInput, changeGroups, changeSums, type StoredChange } from "./change-statement.js";
import { distinctColumns, hasNames } from "./summed-rows.js";

/** Causes of a change. They add up to it. */
export const causes = ["quantity", "price", "share", "new", "gone", "other"] as const;
export type Cause = (typeof causes)[number];

/** Plain decimals of one currency. */
interface ChangeSums {
  readonly currency: string;
  readonly amount: string;
  readonly previous_amount: string;
  readonly change: string;
  readonly causes: Readonly<Record<Cause, string>>;
}

interface ChangeGroup extends ChangeSums {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly display_names: Readonly<Record<string, string>>;
  /** Null if the bill states several quantities for the group, or none. */
  readonly bill: ChangedBill | null;
}

interface ChangedBill {
  readonly unit: string | null;
  readonly quantity: string;
  readonly previous_quantity: string;
  readonly cost: string;
  readonly previous_cost: string;
}

interface CountedChange extends ChangeSums {
  readonly group_count: number;
}

export interface Change {
  readonly groups: ChangeGroup[];
  readonly others: CountedChange[];
  readonly totals: CountedChange[];
}

export async function readChange(
  client: ClickHouseClient,
  input: ChangeInput,
  signal?: AbortSignal,
): Promise<Change> {
  const stored = await readTuples<StoredChange>(client, changeGroups(input), signal);
  const columns = distinctColumns(input.groupBy);
  const named = columns.filter(hasNames);
  const currencies = [...new Set(stored.map(([currency]) => currency))];
  const counted = currencies.map((currency) => {
    const own = stored.filter((group) => group[0] === currency);
    const [, , all = [], count = 0] = own[0] ?? [];
    const left = all.map((sum, index) =>
      own.reduce((rest, [, sums]) => rest - BigInt(sums[index] ?? "0"), BigInt(sum)),
    );
    return {
      total: { ...sumsOf(currency, all.map(BigInt)), group_count: count },
      rest: { ...sumsOf(currency, left), group_count: count - own.length },
    };
  });
  return {
    groups: stored.map(([currency, sums, , , bill, unit, ...values]) => ({
      dimensions: Object.fromEntries(columns.map((name, index) => [name, String(values[index] ?? "")])),
      display_names: displayNames(columns, named, values.map(String)),
      ...sumsOf(currency, sums.map(BigInt)),
      bill: billOf(bill, unit),
    })),
    others: counted.map(({ rest }) => rest).filter(({ group_count }) => group_count > 0),
    totals: counted.map(({ total }) => total),
  };
}

const PLACES = 12;

/** `units` are in the order of `changeSums`. */
function sumsOf(currency: string, units: readonly bigint[]): ChangeSums {
  const [now = 0n, before = 0n, ...known] = units;
  const other = known.reduce((rest, part) => rest - part, now - before);
  const text = (value: bigint) => decimalText(value, PLACES);
  const parts = [...changeSums.slice(2).map((name, index) => [name, known[index] ?? 0n]), ["other", other]];
  return {
    currency,
    amount: text(now),
    previous_amount: text(before),
    change: text(now - before),
    causes: Object.fromEntries(parts.map(([name, value]) => [name, text(value as bigint)])) as Record<
      Cause,
      string
    >,
  };
}

function billOf(bill: readonly string[], unit: string): ChangedBill | null {
  const [quantity, previous_quantity, cost, previous_cost] = bill;
  if (
    quantity === undefined ||
    previous_quantity === undefined ||
    cost === undefined ||
    previous_cost === undefined
  )
    return null;
  return { unit: unit || null, quantity, previous_quantity, cost, previous_cost };
}
