/** Converts the rows of an aggregation, of chargebacks or of topic attributions, to buckets and totals by currency. */
import { differenceText, sumText } from "../../common/exact-decimal.js";
import { displayNames } from "../inventory/names.js";

/** Plain decimals in the currency next to them. */
export interface Amounts {
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  /** The rest: what steps passed on. */
  readonly passed_amount: string;
}

export interface AggregateBucket extends Amounts {
  readonly dimensions: Readonly<Record<string, string>>;
  /** Names for the columns of ids whose value has a name. */
  readonly display_names: Readonly<Record<string, string>>;
  readonly time_bucket: string;
  readonly currency: string;
  readonly row_count: number;
  /** Some of its rows are of a day that misses data that may still come. */
  readonly provisional: boolean;
}

export interface CurrencyAmounts extends Amounts {
  readonly currency: string;
  readonly row_count: number;
}

/** Null if there are several currencies: amounts in different currencies are never added. */
type OverallAmounts = { readonly [Name in keyof Amounts]: string | null };

export interface Aggregate extends OverallAmounts {
  readonly buckets: AggregateBucket[];
  /** Null if there are several currencies, or none. */
  readonly currency: string | null;
  /** By currency, ascending. */
  readonly totals: CurrencyAmounts[];
  readonly total_rows: number;
  readonly total_buckets: number;
  readonly truncated: boolean;
}

/** Totals of one currency. */
export type CurrencyTotals = readonly [
  currency: string,
  total: string,
  usage: string,
  shared: string,
  rows: string,
  buckets: string,
];

export type StoredBucket = readonly [
  label: string,
  currency: string,
  total: string,
  usage: string,
  shared: string,
  rowCount: number,
  /** 1 if some row is of a day that misses data. */
  provisional: 0 | 1,
  /** Totals of its currency; set in one row of each currency. */
  totals: CurrencyTotals | readonly [],
  ...columnsAndNames: string[],
];

/** Collects the totals in the rows, by currency, ascending. */
export function totalsOf(rows: readonly StoredBucket[]): CurrencyTotals[] {
  const totals = rows.flatMap(([, , , , , , , currencyTotals]) =>
    currencyTotals.length === 0 ? [] : [currencyTotals],
  );
  return totals.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Sums of a currency, without trailing zeros. A currency may have several. */
type CurrencySums = readonly [
  currency: string,
  total: string,
  usage: string,
  shared: string,
  rows: number,
  buckets: number,
];

/** Adds up the sums of each currency, ascending. */
export function sumByCurrency(sums: readonly CurrencySums[]): CurrencyTotals[] {
  const currencies = [...new Set(sums.map(([currency]) => currency))].sort();
  return currencies.map((currency): CurrencyTotals => {
    const currencySums = sums.filter((each) => each[0] === currency);
    const sum = (column: 1 | 2 | 3) => sumText(currencySums.map((each) => each[column]));
    const count = (column: 4 | 5) => String(currencySums.reduce((before, each) => before + each[column], 0));
    return [currency, sum(1), sum(2), sum(3), count(4), count(5)];
  });
}

export interface AggregateShape<Column extends string> {
  /** Columns that are grouped by. */
  readonly columns: readonly Column[];
  /** The columns whose values have names. */
  readonly named: readonly Column[];
  /** Further rows only have totals. */
  readonly bucketLimit: number;
}

export function aggregateOf<Column extends string>(
  { columns, named, bucketLimit }: AggregateShape<Column>,
  rows: readonly StoredBucket[],
  totals: readonly CurrencyTotals[] = totalsOf(rows),
): Aggregate {
  const buckets = rows
    .slice(0, bucketLimit)
    .map(([label, currency, total, usage, shared, rowCount, provisional, , ...values]) => ({
      dimensions: Object.fromEntries(columns.map((name, index) => [name, values[index] ?? ""])),
      display_names: displayNames(columns, named, values),
      time_bucket: label,
      currency,
      total_amount: total,
      usage_amount: usage,
      shared_amount: shared,
      passed_amount: passedAmount(total, usage, shared),
      row_count: rowCount,
      provisional: provisional === 1,
    }));
  const byCurrency = totals.map(([currency, total, usage, shared, rowCount]) => ({
    currency,
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    passed_amount: passedAmount(total, usage, shared),
    row_count: Number(rowCount),
  }));
  const totalBuckets = totals.reduce((sum, [, , , , , bucketCount]) => sum + Number(bucketCount), 0);
  return {
    buckets,
    ...overall(byCurrency),
    totals: byCurrency,
    total_rows: byCurrency.reduce((sum, { row_count }) => sum + row_count, 0),
    total_buckets: totalBuckets,
    truncated: totalBuckets > buckets.length,
  };
}

function overall([first, ...others]: readonly CurrencyAmounts[]): OverallAmounts &
  Pick<Aggregate, "currency"> {
  const all = (amount: string | null) => ({
    total_amount: amount,
    usage_amount: amount,
    shared_amount: amount,
    passed_amount: amount,
  });
  if (first === undefined) return { currency: null, ...all("0") };
  if (others.length > 0) return { currency: null, ...all(null) };
  const { row_count: _, ...sums } = first;
  return sums;
}

/** Returns what remains of the total. */
export function passedAmount(total: string, usage: string, shared: string): string {
  return differenceText(total, sumText([usage, shared]));
}
