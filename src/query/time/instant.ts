/** Instants in requests: RFC 3339 with an offset, because a time without one is a different instant for each reader. */
import { EARLIEST_YEAR, isDate, LATEST_YEAR } from "./date-window.js";

/** In words, for messages. A `+` that is not written as %2B arrives as a blank, which is what goes wrong most. */
export const instantExpected =
  "an instant with its offset, such as 2026-01-31T12:00:00Z or 2026-01-31T12:00:00%2B02:00 (a plus sign in a URL is written " +
  `%2B), in the years ${EARLIEST_YEAR} to ${LATEST_YEAR}`;

const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

/** An instant that exists and that the stores can read. */
export function isInstant(text: string): boolean {
  return isDate(text.slice(0, 10)) && TIME.test(text.slice(10));
}

/** As every instant is written: `2026-01-01T00:00:00Z`, with a fraction only where there is one. */
export function instantOf(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
