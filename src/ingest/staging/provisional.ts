/**
 * SQL that decides when a day with missing data is provisional, for chargebacks and for attributions to topics.
 *
 * A provisional day is published at once with what is known, and gathered again by each run. The hash of its input then
 * ends in `-provisional`, so that the input and the provisional state change in one step, and publishing the final hash
 * makes the day final. A day is final if nothing is missing, or, as it is, after the limit of consecutive gatherings
 * with missing data.
 */
import { inputHashOf, PROVISIONAL } from "../../domain/provisional-hash.js";

/**
 * CTE `judged`. It needs a CTE `found` with `day`, `hash` and `lacks` as gathered, `before` (the hash that was staged),
 * and from the day's state `published_hash`, `was_provisional`, `lacked`, `attempts`; `limit` is the limit of attempts.
 * It adds `missing` (missing data), `provisional_attempts`, `wanted_hash`, and `renewed` (the input has changed).
 *
 * A day that was published without missing data stays final with the same input, because the missing data has nothing
 * to add. A provisional day counts its attempts even if its input changes, so that it becomes final however an upstream
 * fails.
 */
export const provisionalCte = (limit: string) => `
  compared AS (
    SELECT *, coalesce(${inputHashOf("published_hash")} = hash, false) AND NOT was_provisional AS is_settled,
           coalesce(${inputHashOf("coalesce(before, published_hash)")} <> hash, false) AS renewed
    FROM found
  ), missed AS (
    SELECT *, CASE WHEN is_settled AND lacked = '{}' THEN '{}' ELSE lacks END AS missing FROM compared
  ), counted AS (
    SELECT *, CASE WHEN missing = '{}' THEN 0
                   WHEN renewed AND NOT was_provisional THEN 1
                   ELSE least(attempts + 1, ${limit}::integer) END AS provisional_attempts
    FROM missed
  ), judged AS (
    SELECT *, CASE WHEN missing <> '{}' AND provisional_attempts < ${limit}::integer AND NOT is_settled
                   THEN hash || '${PROVISIONAL}' ELSE hash END AS wanted_hash
    FROM counted
  )`;

/** Sentences of each day, as one SQL parameter. */
export function missingParameter(contents: readonly { readonly lacks: readonly string[] }[]): string[] {
  return contents.map(({ lacks }) => JSON.stringify(lacks));
}

/** Sentences of one day, from that parameter. */
export const missingFromParameter = (column: string) =>
  `ARRAY(SELECT jsonb_array_elements_text(${column}::jsonb))`;
