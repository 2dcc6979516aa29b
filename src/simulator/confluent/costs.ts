/** `GET /billing/v1/costs`: the bill of whole days, in pages that may begin within a day. */
import { hash } from "../hash.js";
import { ApiError } from "./api-error.js";
import type { Bill } from "./bill.js";
import { DAY_MS } from "./lifetime.js";
import { costLimits, type Page, type PageRequest, pageRequest } from "./paging.js";

/** Throws `ApiError`. */
export function costsPage(url: URL, bill: Bill, now: number): Page {
  const request = pageRequest(url, costLimits);
  const window = windowOf(request.query, now);
  const { items, nextCursor } = collect(request, window, bill);
  return { request, items, nextCursor, apiVersion: "billing/v1", kind: "CostList", total: undefined };
}

interface Window {
  readonly start: number;
  readonly end: number;
}

function windowOf(query: URLSearchParams, now: number): Window {
  const [start, end] = [dateOf(query, "start_date"), dateOf(query, "end_date")];
  if (end <= start) throw invalid("end_date", "end_date must be after start_date");
  if (end > monthsAfter(start, 1)) {
    throw invalid("end_date", "the range between start_date and end_date must be at most one month");
  }
  if (start < monthsAfter(Math.floor(now / DAY_MS) * DAY_MS, -12)) {
    throw invalid("start_date", "start_date must be at most one year ago");
  }
  return { start, end };
}

function dateOf(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null || text === "") throw invalid(name, `${name} is required`);
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) {
    throw invalid(name, `${name} must be a date as YYYY-MM-DD`);
  }
  return time;
}

function invalid(parameter: string, detail: string): ApiError {
  return new ApiError(400, "invalid_date", detail, parameter);
}

/** The same day so many months later, or the last day of a shorter month. */
function monthsAfter(time: number, months: number): number {
  const from = new Date(time);
  const day = from.getUTCDate();
  const moved = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
  return moved.setUTCDate(Math.min(day, last));
}

/** The cursor: how many days are done with, and how many rows of the next. */
function collect({ cursor, size }: PageRequest, { start, end }: Window, bill: Bill) {
  const days = (end - start) / DAY_MS;
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
 * The vendor promises no order: another window has its days forwards or backwards, and the rows of a day begin elsewhere, so
 * that whoever counts positions finds another row there.
 */
function dayAt(start: number, end: number, index: number): string {
  const backwards = hash(start / DAY_MS) % 2 === 1;
  return new Date(backwards ? end - (index + 1) * DAY_MS : start + index * DAY_MS).toISOString().slice(0, 10);
}

function turnOf(start: number, index: number, rows: number): number {
  return rows === 0 ? 0 : hash(start / DAY_MS, index) % rows;
}
