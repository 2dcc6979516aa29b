/**
 * Encodes the values of a column as numbers: their positions among all its values in a window. Numbers group faster
 * than texts.
 */
import type { InstantRange } from "../../common/days.js";
import { rowsInWindow, summedRows } from "./scan.js";

export interface ValueCodes {
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

/** `name` is the list's name in the statement, and `key` the column's. */
export function valueCodes(name: string, column: string, window: InstantRange, key = column): ValueCodes {
  const { from } = summedRows([column]);
  const { condition } = rowsInWindow(window);
  return {
    list: `(SELECT groupArray(value) FROM (SELECT ${column} AS value FROM ${from} WHERE ${condition} GROUP BY value)) AS ${name}`,
    position: `transform(${key}, ${name}, arrayEnumerate(${name}), 0)`,
    at: (index) => `${name}[${index}]`,
  };
}
