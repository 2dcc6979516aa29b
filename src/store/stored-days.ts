/**
 * The days that the stores hold. ClickHouse's instants end in February 2106, and what lies outside of them it takes for the first or the
 * last instant that it has, without a word: nothing else may be sent to it.
 */
export const FIRST_DAY = "1970-01-01";
export const LAST_DAY = "2105-12-31";
