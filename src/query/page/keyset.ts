/**
 * Continues after a row in the order of a table's key, at the cost of a first page. The order of these tables is total except for
 * rows that are equal in every column of it (two lines of one bill may be). For those, a cursor counts how many were already
 * returned.
 */
import { dayOfSeconds } from "../../time/days.js";
import { type Condition, type Days, utcInstant } from "../chargebacks/scan.js";
import type { CursorKey, KeyColumn } from "./cursor.js";
import { type DayCount, type PageSpan, totalRows } from "./days.js";

/** Columns behind `day` that rows are ordered by, and what they are. One is `timestamp`, of which the day is. */
export type OrderColumns = Readonly<Record<string, "String" | "UInt8" | "DateTime('UTC')">>;

/** A place in the order: the values of the last row given, and how many rows with the same ones were. */
export interface Place {
  readonly values: readonly (string | number)[];
  readonly given: number;
}

const LAST_INSTANT = 2 ** 32 - 1;

/** What a cursor holds: instants in seconds since 1970, and the count last. */
export function cursorColumns(columns: OrderColumns): KeyColumn[] {
  return [
    ...Object.values(columns).map((type): KeyColumn => (type === "String" ? "text" : "integer")),
    "integer",
  ];
}

export function cursorKeyOf({ values, given }: Place): CursorKey {
  return [...values, given];
}

export function placeOf(key: CursorKey): Place {
  return { values: key.slice(0, -1), given: Math.max(Number(key.at(-1)), 0) };
}

/** The values of a row, which has all these columns, as its cursor holds them. */
export function orderValues(columns: OrderColumns, row: object): Place["values"] {
  return Object.entries(columns).map(([name, type]) => {
    const value = Reflect.get(row, name) as string | number;
    return type === "DateTime('UTC')" ? Date.parse(String(value)) / 1000 : value;
  });
}

/**
 * Rows of these days at the place and behind it, ready to follow another condition; all rows without a place. Spelt out, with the day in front: 13 ms
 * where a comparison of tuples took 480 ms (50 M rows).
 */
export function fromPlace(columns: OrderColumns, place: Place | undefined, days: Days): Condition {
  if (place === undefined || days.first_day > dayOf(columns, place.values))
    return { condition: "", params: {} };
  const behind = behindOnDay(columns);
  const { place_day, ...params } = placeParams(columns, place);
  if (days.last_day === place_day) return { condition: ` AND (${behind})`, params };
  return {
    condition: ` AND (day > {place_day:Date} OR (${behind}))`,
    params: { ...params, place_day },
  };
}

/** Rows of the place's day before it. */
export function beforePlace(columns: OrderColumns, place: Place): Condition {
  return {
    condition: ` AND day = {place_day:Date} AND NOT (${behindOnDay(columns)})`,
    params: placeParams(columns, place),
  };
}

/** Of the rows of the place's day, those at it and behind it. */
function behindOnDay(columns: OrderColumns): string {
  const value = (index: number) => `{place_${index}:${Object.values(columns)[index]}}`;
  return Object.keys(columns).reduceRight((inner, name, index) => {
    if (inner === "") return `${name} >= ${value(index)}`;
    return `${name} > ${value(index)} OR (${name} = ${value(index)} AND (${inner}))`;
  }, "");
}

function placeParams(columns: OrderColumns, { values }: Place) {
  const types = Object.values(columns);
  const param = (value: string | number | undefined, type: OrderColumns[string]) => {
    if (type === "String") return value;
    return type === "UInt8" ? within(value, 255) : utcInstant(within(value, LAST_INSTANT));
  };
  const params = types.map((type, index) => [`place_${index}`, param(values[index], type)]);
  return { ...Object.fromEntries(params), place_day: dayOf(columns, values) };
}

export function dayOf(columns: OrderColumns, values: Place["values"]): string {
  return dayOfSeconds(within(values[Object.keys(columns).indexOf("timestamp")], LAST_INSTANT));
}

/** A cursor that was made up may hold what the store cannot. */
function within(value: string | number | undefined, most: number): number {
  return Math.min(Math.max(Number(value), 0), most);
}

/** Rows that are the same in the whole order: so many are read again to leave them out, beyond that they are passed over. */
const MOST_SAME = 1_000;

/** The days that hold the next `rows` rows behind a place. */
export function placeSpan(
  days: readonly DayCount[],
  placeDay: string,
  place: Place,
  rows: number,
): PageSpan | undefined {
  const [first, ...others] = days.filter(({ day }) => day >= placeDay);
  if (first === undefined) return undefined;
  // How many of the first day's rows lie behind the place is not known: the days after it have to do.
  const enough = others.findIndex((_, index) => totalRows(others.slice(0, index + 1)) >= rows);
  const last = others.at(enough) ?? first;
  return {
    first_day: first.day,
    last_day: last.day,
    offset: first.day === placeDay ? Math.max(place.given - MOST_SAME, 0) : 0,
  };
}

/** How many rows to read for `rows` behind a place: those that were given come again. */
export function rowsFrom({ given }: Place, rows: number): number {
  return rows + Math.min(given, MOST_SAME);
}

/** Leaves out the rows that were given. They come first, and may be fewer by now. */
export function withoutGiven<Row>(
  rows: readonly Row[],
  valuesOf: (row: Row) => Place["values"],
  place: Place,
): Row[] {
  const text = JSON.stringify(place.values);
  const most = Math.min(place.given, MOST_SAME);
  const first = rows.findIndex((row, index) => index >= most || JSON.stringify(valuesOf(row)) !== text);
  return first === -1 ? [] : rows.slice(first);
}

/** The place where a page ends that began behind `start`. */
export function endOfPage(
  pageValues: readonly Place["values"][],
  start: Place | undefined,
): Place | undefined {
  const last = pageValues.at(-1);
  if (last === undefined) return undefined;
  const text = JSON.stringify(last);
  const same = pageValues.filter((values) => JSON.stringify(values) === text).length;
  const before = start !== undefined && JSON.stringify(start.values) === text ? start.given : 0;
  return { values: last, given: before + same };
}
