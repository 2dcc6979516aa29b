/**
 * Pagination: reads rows in the order of a table's key: one page by its number, or pages after a position. Returns
 * where the next pages begin.
 */
import type { ClickHouseSettings } from "@clickhouse/client";
import { daysBetween } from "../../common/days.js";
import {
  type DayCount,
  dayOfPosition,
  endOfPage,
  type OrderColumns,
  orderValues,
  type PagePosition,
  type PageRequest,
  type PageSpan,
  pageSpan,
  rowsFrom,
  spanFromPosition,
  totalRows,
  withoutReturned,
} from "./position.js";

interface PageReading<Row extends object> {
  /** Every row has all of these columns. */
  readonly columns: OrderColumns;
  /** Matching rows per day, days ascending. */
  readonly days: readonly DayCount[];
  readonly page: PageRequest;
  /** Replaces the page's number. */
  readonly position: PagePosition | undefined;
  /** Reads up to `rows` rows of these days, after the position if there is one. */
  read(span: PageSpan, rows: number, settings: ClickHouseSettings): Promise<Row[]>;
  /** Counts the rows of the position's day that come before it. */
  countBefore(position: PagePosition): Promise<number>;
}

/** Consecutive pages of `page_size` items each; the last may have fewer. */
export interface Pages<Item> {
  /** The items of all pages. */
  readonly items: Item[];
  readonly total: number;
  /**
   * For each page, the position where the next one begins; undefined on the last page. There is always at least one
   * page.
   */
  readonly next: readonly (PagePosition | undefined)[];
}

export async function readOrderedPages<Row extends object>(reading: PageReading<Row>): Promise<Pages<Row>> {
  return reading.position === undefined
    ? readNumbered(reading)
    : readAfterPosition(reading, reading.position);
}

async function readNumbered<Row extends object>(reading: PageReading<Row>): Promise<Pages<Row>> {
  const { days, page, columns } = reading;
  const total = totalRows(days);
  const span = pageSpan(days, page);
  if (span === undefined) return { items: [], total, next: [undefined] };
  const rows = await readDays(reading, span, page.page_size);
  const end = endOfPage(rows.map(valuesIn(columns)), undefined);
  if (end === undefined || page.page * page.page_size >= total)
    return { items: rows, total, next: [undefined] };
  // All rows of this page are equal in the order. Rows before the page may be equal to them, too, so count those.
  const mayHaveEqualBefore = end.returned === rows.length && span.offset > 0;
  if (!mayHaveEqualBefore) return { items: rows, total, next: [end] };
  const returned = span.offset + rows.length - (await reading.countBefore(end));
  return { items: rows, total, next: [{ ...end, returned: Math.max(returned, rows.length) }] };
}

async function readAfterPosition<Row extends object>(
  reading: PageReading<Row>,
  position: PagePosition,
): Promise<Pages<Row>> {
  const { days, page, columns } = reading;
  const { page_size, ahead: requestedAhead = 0 } = page;
  const total = totalRows(days);
  const spanOf = (pages: number) =>
    spanFromPosition(days, dayOfPosition(columns, position.values), position, page_size * pages + 1);
  const span = spanOf(1);
  if (span === undefined) return { items: [], total, next: [undefined] };
  // Prefetch only within the same day: each further day is another part to open.
  const ahead = spanOf(1 + requestedAhead)?.last_day === span.last_day ? requestedAhead : 0;
  const most = page_size * (1 + ahead);
  // One row more shows whether a page follows.
  const wanted = most + 1;
  const valuesOf = valuesIn(columns);
  const found = withoutReturned(
    await readSpan(reading, span, rowsFrom(position, wanted)),
    valuesOf,
    position,
  );
  const endOf = (from: number, start: PagePosition | undefined) =>
    found.length > from + page_size
      ? endOfPage(found.slice(from, from + page_size).map(valuesOf), start)
      : undefined;
  const next = [endOf(0, position)];
  for (let from = page_size; from < most && next.at(-1) !== undefined; from += page_size)
    next.push(endOf(from, next.at(-1)));
  return { items: found.slice(0, most), total, next };
}

/** If a day has this many times the wanted rows, most pages that begin in it also end in it. */
const LARGE_DAY = 10;

/** Reads the first day alone if it is large, because planning a read of two days takes half as long again. */
async function readSpan<Row extends object>(
  reading: PageReading<Row>,
  span: PageSpan,
  rows: number,
): Promise<Row[]> {
  const first = reading.days.find(({ day }) => day === span.first_day);
  if (first !== undefined && span.last_day !== first.day && first.rows >= LARGE_DAY * rows) {
    const found = await readDays(reading, { ...span, last_day: first.day }, rows);
    if (found.length === rows) return found;
  }
  return await readDays(reading, span, rows);
}

async function readDays<Row extends object>(
  { days, read }: PageReading<Row>,
  span: PageSpan,
  rows: number,
): Promise<Row[]> {
  return await read(span, rows, settingsOf(days, span));
}

/** Sorting so many rows takes negligible time. */
const FEW_ROWS = 50_000;

/**
 * For few rows in many days, it is faster to read all of them and to sort. Reading in the order of the key makes the
 * engine merge a part of each day: 117 ms instead of 69 for a page of one identity in 36 days of 100,000 rows, and 55
 * instead of 46 in 36 days of 5,000.
 */
function settingsOf(days: readonly DayCount[], { first_day, last_day }: PageSpan): ClickHouseSettings {
  const read = days.filter(({ day }) => day >= first_day && day <= last_day);
  const isSorted = daysBetween(first_day, last_day) > 1 && totalRows(read) <= FEW_ROWS;
  return isSorted ? { optimize_read_in_order: 0 } : {};
}

const valuesIn = (columns: OrderColumns) => (row: object) => orderValues(columns, row);

/**
 * Picks fields of a row, in a loop. Spreading a row or leaving fields out by destructuring takes ten times as long,
 * which is 25 ms for a thousand rows of thirty fields. Assign further fields to the result for the same reason.
 */
export function pick<Row extends object, Name extends keyof Row>(
  row: Row,
  names: readonly Name[],
): Pick<Row, Name> {
  const picked: Partial<Pick<Row, Name>> = {};
  for (const name of names) picked[name] = row[name];
  return picked as Pick<Row, Name>;
}
