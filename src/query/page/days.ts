/**
 * Finds the days that contain a page, from the number of rows of each day, so that a deep page reads only its own days
 * and not everything before it.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { DaySpan } from "../chargebacks/scan.js";

export interface DayCount {
  readonly day: string;
  readonly rows: number;
}

/** Returns the rows per day of a list, from the cache or through `read`. */
export type CountDays = (read: () => Promise<readonly DayCount[]>) => Promise<readonly DayCount[]>;

export interface PageSpan extends DaySpan {
  /** Rows of `first_day` that come before the page. */
  readonly offset: number;
}

export interface PageRequest {
  /** From 1; any safe integer. */
  readonly page: number;
  readonly page_size: number;
  /** How many further pages to prefetch, if they are in the same days. */
  readonly ahead?: number | undefined;
}

/** Returns the days that contain the page; undefined for a page past the end. `days` ascend. */
export function pageSpan(days: readonly DayCount[], { page, page_size }: PageRequest): PageSpan | undefined {
  const offset = (page - 1) * page_size; // not exact beyond 2^53, but past any end there
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

/** Runs a read that returns `{day, rows}`, days ascending. */
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
