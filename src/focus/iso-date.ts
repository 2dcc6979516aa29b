import { literal } from "../store/clickhouse/sql-text.js";

/**
 * ISO spellings alone: best effort would read 05/01/2026 as one of its two meanings, and 25:00 as an hour of the next day. A date without a
 * zone is one of UTC.
 */
const readable =
  "^\\d{4}-\\d\\d-\\d\\d([T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)?)?$";

/** SQL of the instant that a text states, or null. */
export function isoInstant(text: string): string {
  return `if(match(${text}, ${literal(readable)}), parseDateTime64BestEffortOrNull(${text}, 3, 'UTC'), NULL)`;
}
