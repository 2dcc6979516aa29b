import { literal } from "../clickhouse/sql-text.js";

/**
 * ISO 8601 and similar formats of exporters: `2026-10-18 00:00:00 UTC` (BigQuery), `+0000` and `2026-10-18T00:00Z[UTC]`
 * (Java), `+00` (Postgres), a blank before the zone (Snowflake, Go), `t` and `z`. Other formats could be ambiguous,
 * such as `05/01/2026`. A time without a zone is UTC.
 */
const day = "([12]\\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01]))";
const time = "((?:[01]\\d|2[0-3]):[0-5]\\d)(:[0-5]\\d(?:\\.\\d+)?)?";
const offset = "([+-](?:0\\d|1[0-4]))(?::?([0-5]\\d))?(?: UTC)?";
const pattern = `^ *${day}(?:[Tt ]${time}(?: ?(?:${offset}|[Zz]|UTC|GMT))?(?:\\[[A-Za-z0-9_+/-]{1,64}\\])?)? *$`;
/** Leaves out `Z`, `UTC` and `GMT`: a time without an offset is read as UTC. */
const canonical = "\\1T\\2\\3\\4\\5";

/** SQL that parses a text to an instant; null if the text is not one. */
export function isoInstant(text: string): string {
  const rewritten = `replaceRegexpOne(${text}, ${literal(pattern)}, ${literal(canonical)})`;
  return `if(match(${text}, ${literal(pattern)}), parseDateTime64BestEffortOrNull(${rewritten}, 3, 'UTC'), NULL)`;
}
