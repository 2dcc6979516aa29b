/** `GET /billing/v1/costs`: the bill of whole days, in pages that may start in the middle of a day. */
import { addDays, addMonths, type DayRange, dayOf, daysBetween, isDay } from "../../common/days.js";
import { hash } from "../hash.js";
import { SimulatedApiError } from "./api-error.js";
import type { SimulatedBill } from "./bill.js";
import { costLimits, pageRequest, type SimulatedPage, type SimulatedPageRequest } from "./paging.js";

/** Throws `SimulatedApiError`. */
export function costsPage(url: URL, bill: SimulatedBill, now: number): SimulatedPage {
  const request = pageRequest(url, costLimits);
  const window = windowOf(request.query, now);
  const { items, nextCursor } = collect(request, window, bill);
  return { request, items, nextCursor, apiVersion: "billing/v1", kind: "CostList", total: undefined };
}

function windowOf(query: URLSearchParams, now: number): DayRange {
  const [start, end] = [dateOf(query, "start_date"), dateOf(query, "end_date")];
  if (end <= start) throw invalid("end_date", "end_date must be after start_date");
  if (end > addMonths(start, 1)) {
    throw invalid("end_date", "the range between start_date and end_date must be at most one month");
  }
  if (start < addMonths(dayOf(new Date(now)), -12)) {
    throw invalid("start_date", "start_date must be at most one year ago");
  }
  return { start, end };
}

function dateOf(query: URLSearchParams, name: string): string {
  const text = query.get(name);
  if (text === null || text === "") throw invalid(name, `${name} is required`);
  if (!isDay(text)) throw invalid(name, `${name} must be a date as YYYY-MM-DD`);
  return text;
}

function invalid(parameter: string, detail: string): SimulatedApiError {
  return new SimulatedApiError(400, "invalid_date", detail, parameter);
}

/** The cursor has the number of completed days and the number of rows of the next day. */
function collect({ cursor, size }: SimulatedPageRequest, { start, end }: DayRange, bill: SimulatedBill) {
  const days = daysBetween(start, end);
  let [done = 0, skipped = 0] = (cursor ?? "0.0").split(".").map(Number);
  const items: string[] = [];
  for (; done < days; done += 1) {
    const texts = bill.texts(dayAt(start, end, done));
    const [from, turn] = [skipped, turnOf(start, done, texts.length)];
    const until = Math.min(texts.length, from + size - items.length);
    for (let at = from; at < until; at += 1) items.push(texts[(at + turn) % texts.length] ?? "");
    if (until < texts.length) return { items, nextCursor: `${done}.${until}` };
    skipped = 0;
  }
  return { items, nextCursor: undefined };
}

/**
 * The vendor promises no order. So each window has its days forwards or backwards, and the rows of a day start at
 * another row. A client that relies on positions finds another row there.
 */
function dayAt(start: string, end: string, index: number): string {
  const backwards = hash(dayNumber(start)) % 2 === 1;
  return backwards ? addDays(end, -(index + 1)) : addDays(start, index);
}

function turnOf(start: string, index: number, rows: number): number {
  return rows === 0 ? 0 : hash(dayNumber(start), index) % rows;
}

/** The day as a number, for hashing. */
function dayNumber(day: string): number {
  return daysBetween("1970-01-01", day);
}
