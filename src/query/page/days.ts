/**
 * Finds the days that contain a page, from the number of rows of each day, so that a deep page reads its own days and not
 * everything before it.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import type { Days } from "../chargebacks/scan.js";

export interface DayCount {
  readonly day: string;
  readonly rows: number;
}

/** Rows a day of a list: as they are known, or as `read` returns them. */
export type CountDays = (read: () => Promise<readonly DayCount[]>) => Promise<readonly DayCount[]>;

export interface PageSpan extends Days {
  /** Rows of `first_day` that lie before the page. */
  readonly offset: number;
}

export interface PageRequest {
  /** From 1; any safe integer. */
  readonly page: number;
  readonly page_size: number;
  /** How many pages behind a place are read with its own, where they lie in the same days. */
  readonly ahead?: number | undefined;
}

/** Days ascending. Undefined for a page past the end. */
export function pageSpan(days: readonly DayCount[], { page, page_size }: PageRequest): PageSpan | undefined {
  const offset = (page - 1) * page_size; // beyond 2^53 it is not exact any more, and past any end
  let before = 0;
  let first: { day: string; offset: number } | undefined;
  let last = "";
  for (const { day, rows } of days) {
    if (first === undefined && before + rows > offset) first = { day, offset: offset - before };
    if (first !== undefined) last = day;
    before += rows;
    if (first !== undefined && before >= offset + page_size) break;
  }
  return first && { first_day: first.day, last_day: last, offset: first.offset };
}

/** Runs a read whose rows are `{day, rows}` ascending. */
export async function readDayCounts(
  client: ClickHouseClient,
  read: Statement,
  signal?: AbortSignal,
): Promise<DayCount[]> {
  return await readRows<DayCount>(client, read, signal);
}

export function totalRows(days: readonly DayCount[]): number {
  return days.reduce((sum, { rows }) => sum + rows, 0);
}
