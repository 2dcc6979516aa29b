/**
 * Converts the dates of a request to instants. Both dates are always inclusive. A day begins at its first midnight in
 * the request's zone, so a day on which clocks change has 23 or 25 hours.
 */
import { addDays, dayOf, type InstantRange, isDay } from "../../common/days.js";
import { startOfDay } from "./start-of-day.js";
import { isTimeZone } from "./zone.js";

export interface DateWindowInput {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  /** IANA name; UTC by default. */
  readonly timezone?: string | undefined;
}

/** Its instants may be outside the range of the stores. */
export interface DateWindow extends InstantRange {
  /** `YYYY-MM-DD`, inclusive. */
  readonly startDate: string;
  readonly endDate: string;
  readonly timezone: string;
}

/** A request has an invalid value. `message` is a sentence about it. */
export class InvalidParameterError extends Error {
  override readonly name = "InvalidParameterError";
  constructor(
    readonly parameter: string,
    message: string,
  ) {
    super(message);
  }
}

export const EARLIEST_YEAR = 1900;
export const LATEST_YEAR = 2299;

/** A date that exists, in a supported year. */
export function isDate(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return isDay(text) && year >= EARLIEST_YEAR && year <= LATEST_YEAR;
}

/**
 * Fills in missing dates. Without both: `[today - lookback, today]`. Without a start: a lookback before the end.
 * Without an end: today, or the start if that is later. Today is the UTC date in every zone.
 */
export function dateWindow(input: DateWindowInput, lookbackDays: number, now: Date): DateWindow {
  const timezone = input.timezone ?? "UTC";
  if (!isTimeZone(timezone)) {
    throw new InvalidParameterError(
      "timezone",
      "`timezone` must be a name of the IANA time zone list, written as there, such as Europe/Berlin or UTC.",
    );
  }
  const today = dayOf(now);
  const endDate =
    input.end_date ?? (input.start_date !== undefined && input.start_date > today ? input.start_date : today);
  // An end that is not a date is rejected below.
  const startDate = input.start_date ?? (isDay(endDate) ? addDays(endDate, -lookbackDays) : "");
  for (const [name, date] of [
    ["start_date", startDate],
    ["end_date", endDate],
  ] as const) {
    if (isDate(date)) continue;
    const range = `in the years ${EARLIEST_YEAR} to ${LATEST_YEAR}`;
    throw new InvalidParameterError(
      name,
      input[name] === undefined
        ? `\`${name}\` was left out and would lie outside the years ${EARLIEST_YEAR} to ${LATEST_YEAR}; give it.`
        : `\`${name}\` must be a date YYYY-MM-DD ${range}.`,
    );
  }
  if (startDate > endDate) {
    throw new InvalidParameterError("start_date", "`start_date` must not be later than `end_date`.");
  }
  return {
    startDate,
    endDate,
    timezone,
    from: startOfDay(startDate, timezone),
    to: startOfDay(addDays(endDate, 1), timezone),
  };
}
