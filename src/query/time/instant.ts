/** Instants in requests: RFC 3339 with an offset, because a time without one is a different instant for each reader. */
import { EARLIEST_YEAR, isDate, LATEST_YEAR } from "./date-window.js";

/** Wording for messages. The most common mistake is a `+` that is not written as %2B: it arrives as a blank. */
export const instantExpected =
  "an instant with its offset, such as 2026-01-31T12:00:00Z or 2026-01-31T12:00:00%2B02:00 (a plus sign in a URL is written " +
  `%2B), in the years ${EARLIEST_YEAR} to ${LATEST_YEAR}`;

const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

/** The instant exists, and the stores can read it. */
export function isInstant(text: string): boolean {
  return isDate(text.slice(0, 10)) && TIME.test(text.slice(10));
}

/** Formats an instant like all others: `2026-01-01T00:00:00Z`, with a fraction only if there is one. */
export function instantOf(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
