/**
 * The days that the stores can represent. ClickHouse's `DateTime` ends in February 2106, and it silently clamps values
 * outside of its range to the first or last instant, so no other days may be sent to it.
 */
export const FIRST_DAY = "1970-01-01";
export const LAST_DAY = "2105-12-31";
