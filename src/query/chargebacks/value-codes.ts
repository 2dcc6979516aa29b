/** Values of a column as numbers: their places among all values that the column has in a window. Numbers group faster than texts. */
import type { DateWindow } from "../time/date-window.js";
import { rowsInWindow, summedRows } from "./scan.js";

export interface ValueCodes {
  /** The list of values, to stand behind the WITH of the whole statement; it has the parameters of `rowsInWindow`. */
  readonly list: string;
  /** Place of a row's value, from 1; 0 of a value that came up after the list was read. Numbers of the column's dictionary, until they are cast. */
  readonly position: string;
  /** The value at a place. */
  at(place: string): string;
}

/** `name` is what the list is called in the statement, and `key` what the column is there. */
export function valueCodes(
  name: string,
  column: string,
  window: Pick<DateWindow, "from" | "to">,
  key = column,
): ValueCodes {
  const { from } = summedRows([column]);
  const { condition } = rowsInWindow(window);
  return {
    list: `(SELECT groupArray(value) FROM (SELECT ${column} AS value FROM ${from} WHERE ${condition} GROUP BY value)) AS ${name}`,
    position: `transform(${key}, ${name}, arrayEnumerate(${name}), 0)`,
    at: (place) => `${name}[${place}]`,
  };
}
