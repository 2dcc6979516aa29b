/** SQL for amounts over time of the groups that a breakdown returns, and of all groups together. */
import type { Statement } from "../../clickhouse/statement.js";
import { bucketKey, bucketLabelSql, type TimeBucket } from "../time/bucket.js";
import { aggregateSource } from "./aggregate-source.js";
import type { BreakdownInput } from "./breakdown-input.js";
import { withNames } from "./scan.js";
import { rowsByKeys } from "./sum-source.js";

export type StoredAmount = readonly [
  /** Empty for the sums over all time. */
  label: string,
  currency: string,
  /** Position among the wanted combinations, from 1; 0 for all others; -1 for the sum over all. */
  place: number,
  amount: string,
];

/**
 * Selects `StoredAmount` by time. `wanted` lists distinct combinations of values of the columns that are grouped by.
 *
 * A row is matched by numbers: the position of each column's value among the wanted ones, as the digits of one number.
 * Columns are dictionaries, so a row costs one look-up in a small table, however many combinations are wanted.
 */
export function breakdownSeries(
  input: BreakdownInput & { readonly timeBucket: TimeBucket },
  wanted: readonly (readonly string[])[],
): Statement {
  const { window, timeBucket } = input;
  const source = aggregateSource(input);
  const bucket = bucketKey(timeBucket, window);
  const values = (wanted[0] ?? []).map((_, index) => [
    ...new Set(wanted.map((combination) => combination[index] ?? "")),
  ]);
  // Digit 0 is a value that is not wanted.
  const radix = values.map(({ length }) => length + 1);
  const numberOf = (digits: readonly number[]) =>
    digits.reduce((number, digit, index) => number * (radix[index] ?? 1) + digit, 0);
  const numbers = wanted.map((combination) =>
    numberOf(combination.map((value, index) => (values[index] ?? []).indexOf(value) + 1)),
  );
  const digits = values.map((_, index) => {
    const column = source.columns[index];
    const text = column === undefined ? "''" : column.text(column.key);
    return `transform(${text}, {values_${index}:Array(String)}, arrayEnumerate({values_${index}:Array(String)}), 0)`;
  });
  const number = digits.reduce((before, next, index) => `(${before}) * ${radix[index]} + ${next}`);
  const currency = source.columns[source.currencyIndex]?.key ?? "currency";
  const rows = rowsByKeys(
    source,
    {
      bucket: bucket.sql,
      of_currency: currency,
      place: `transform(toUInt64(${number}), {numbers:Array(UInt64)}, {places:Array(UInt32)}, toUInt32(0))`,
    },
    "sum(amount_hi) AS hi, sum(amount_lo) AS lo",
  );
  return {
    query: `
${withNames(...source.names)}SELECT if(grouping(bucket) = 1, '', ${bucketLabelSql(timeBucket, window.timezone)}) AS label, toString(of_currency),
  if(grouping(place) = 1, -1, toInt32(place)), toString(sum(hi) + sum(lo))
FROM ${rows}
GROUP BY GROUPING SETS ((bucket, of_currency, place), (bucket, of_currency), (of_currency))
ORDER BY grouping(bucket), bucket, of_currency`,
    params: {
      ...source.params,
      ...bucket.params,
      ...Object.fromEntries(values.map((texts, index) => [`values_${index}`, texts])),
      numbers,
      places: numbers.map((_, index) => index + 1),
    },
  };
}
