/**
 * Sums rows by several columns, one of which has many values, if no table of sums has them. The columns are grouped as
 * numbers, the positions of their values among all values of the window: 66,000 groups of 20 M rows by identity,
 * product, cost type and currency took 2.1 to 2.8 s of processor time, and by their texts 9.3 s.
 */
import type { InstantRange } from "../../common/days.js";
import { costTypes } from "../../domain/allocation-rule.js";
import { rowsInWindow, summedRows } from "./scan.js";
import { type AggregateSource, rowsByKeys, type SourceColumn } from "./summed-rows.js";

interface RowsByCodes {
  /** Named expressions, to put after the WITH of the whole statement. */
  readonly withClauses: readonly string[];
  /** The text after FROM, with the columns of `rowsToSum`. */
  readonly sql: string;
}

/** Columns of ids. The others have a few dozen values, and grouping by their texts is as fast. */
const columnsOfIds: ReadonlySet<string | undefined> = new Set([
  "identity_id",
  "resource_id",
  "env_id",
  "account_id",
  "sku_id",
]);

/**
 * Returns whether `rowsByCodes` is faster than `rowsToSum`. Listing the values of a line's tag takes as long as it
 * saves. Listing all values of the window takes longer than summing the few rows that a filter keeps.
 */
export function isFasterByCodes({ rows, isFiltered, columns }: AggregateSource): boolean {
  const isMany = ({ column, valueCount }: SourceColumn) =>
    valueCount !== undefined || columnsOfIds.has(column);
  const isListed = ({ column, valueCount }: SourceColumn) => valueCount !== undefined || column !== undefined;
  return !rows.areSums && !isFiltered && columns.every(isListed) && columns.some(isMany);
}

const COST_TYPES = `[${costTypes.map((type) => `'${type}'`).join(", ")}]`;
const COST_TYPE_NUMBERS = `[${costTypes.map((_, index) => index + 1).join(", ")}]`;
const COST_TYPE_NUMBER = `CAST(transform(chargebacks.cost_type, ${COST_TYPES}, ${COST_TYPE_NUMBERS}, 0) AS UInt8)`;
/** Numbers start at 1, and 0 means none. */
const COST_TYPE_RADIX = costTypes.length + 1;
const NEW_VALUES = "values came up while they were counted";

/**
 * The columns are `c0`, `c1` and so on, and the cost type is `cost_type`. `flags` are further keys of 0 or 1. The
 * statement fails if a value was added after the values were listed: `hasNewValues` detects that error, and the caller
 * runs the statement again.
 *
 * Currency, cost type and flags are the digits of one number. So three columns and that number make a key of 16 bytes.
 * With 19 bytes, the engine uses a slower method: 20 M rows took 3.1 to 4.3 s of processor time with 19 and 1.7 to 2.4
 * s with 16; the whole breakdown of 100 M rows 20 s and 13.5 s.
 */
export function rowsByCodes(
  source: AggregateSource,
  window: InstantRange,
  flags: Readonly<Record<string, string>>,
): RowsByCodes {
  const marks = [
    { of: COST_TYPE_NUMBER, radix: COST_TYPE_RADIX },
    ...Object.values(flags).map((of) => ({ of: `(${of})`, radix: 2 })),
  ];
  /** The unit of a digit: the number of combinations of the digits before it. The currency is the last digit. */
  const unit = (digit: number) => marks.slice(0, digit).reduce((all, { radix }) => all * radix, 1);
  const [costType, ...flagged] = marks.map(({ radix }, digit) => `intDiv(marks, ${unit(digit)}) % ${radix}`);
  const columns = source.columns.map(({ key, valueCount }, index) => {
    const isMark = index === source.currencyIndex;
    const number = isMark ? `intDiv(marks, ${unit(marks.length)})` : `number_${index}`;
    const name = `c${index}`;
    const stored = { isMark, number };
    if (valueCount !== undefined)
      return { ...stored, names: [], of: `CAST(${key} AS UInt32)`, text: `${number} AS ${name}`, isNew: [] };
    const numbers = valueCodes(`values_${index}`, key, window);
    return {
      ...stored,
      names: [numbers.list],
      of: `CAST(${numbers.position} AS UInt32)`,
      text: `${numbers.at(number)} AS ${name}`,
      isNew: [`${number} = 0`],
    };
  });
  const digits = [
    ...marks.map(({ of }, digit) => `${unit(digit)} * ${of}`),
    ...columns.flatMap(({ isMark, of }) => (isMark ? [`${unit(marks.length)} * ${of}`] : [])),
  ];
  const keys = {
    ...Object.fromEntries(columns.flatMap(({ isMark, number, of }) => (isMark ? [] : [[number, of]]))),
    marks: `toUInt32(${digits.join(" + ")})`,
  };
  const isNew = [...columns.flatMap((column) => column.isNew), `${costType} = 0`].join(" OR ");
  return {
    withClauses: columns.flatMap(({ names }) => names),
    sql: `(
    SELECT ${columns.map(({ text }) => text).join(", ")}, ${COST_TYPES}[${costType} + throwIf(${isNew}, '${NEW_VALUES}')] AS cost_type,
      ${Object.keys(flags)
        .map((name, index) => `${flagged[index]} AS ${name}`)
        .join(", ")}, hi, lo, n
    FROM ${rowsByKeys(source, keys, `sum(amount_hi) AS hi, sum(amount_lo) AS lo, ${source.rows.count} AS n`)}
  )`,
  };
}

export function hasNewValues(error: unknown): boolean {
  return error instanceof Error && error.message.includes(NEW_VALUES);
}

interface ValueCodes {
  /** The list of values, to put after the WITH of the whole statement. It uses the parameters of `rowsInWindow`. */
  readonly list: string;
  /**
   * The position of a row's value, from 1; 0 for a value that was added after the list was read. The result is in the
   * column's dictionary until it is cast.
   */
  readonly position: string;
  /** Returns the value at a position. */
  at(index: string): string;
}

/**
 * Encodes the values of a column as numbers: their positions among all its values in the window. Numbers group faster
 * than texts. `name` is the list's name in the statement, and `key` the column's.
 */
export function valueCodes(name: string, column: string, window: InstantRange, key = column): ValueCodes {
  const { from } = summedRows([column]);
  const { condition } = rowsInWindow(window);
  return {
    list: `(SELECT groupArray(value) FROM (SELECT ${column} AS value FROM ${from} WHERE ${condition} GROUP BY value)) AS ${name}`,
    position: `transform(${key}, ${name}, arrayEnumerate(${name}), 0)`,
    at: (index) => `${name}[${index}]`,
  };
}
