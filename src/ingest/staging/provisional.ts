/**
 * When a day that lacks something is provisional, as SQL: the same for chargebacks and for attributions to topics.
 *
 * It is published at once with what is known, and gathered again each run. The hash of its input then ends in `-provisional`, so that what
 * the day is calculated from and whether it is provisional change in one step, and settling a day is publishing it. It is
 * settled when it lacks nothing any more, or as it is when it was gathered so often in a row without what it lacks.
 */
import { inputHashOf, PROVISIONAL } from "../../store/postgres/provisional-hash.js";

/**
 * CTE `judged`. In: CTE `found` with `day`, `hash` and `lacks` as gathered, `before` (hash that was staged), and of the day's state
 * `published_hash`, `was_provisional`, `lacked`, `attempts`; the limit of attempts as `limit`. Adds `missing` (what it lacks),
 * `provisional_attempts`, `wanted_hash`, `renewed` (its input is another one than before).
 *
 * What is published as whole stays so with the same input: then what could not be had has nothing to add. A provisional day counts
 * its attempts also while its input changes, so that it is settled however an upstream fails.
 */
export const judgedCte = (limit: string) => `
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

/** Sentences of each day, as one parameter of SQL. */
export function missingParameter(contents: readonly { readonly lacks: readonly string[] }[]): string[] {
  return contents.map(({ lacks }) => JSON.stringify(lacks));
}

/** Of it, the sentences of one day. */
export const missingFromParameter = (column: string) =>
  `ARRAY(SELECT jsonb_array_elements_text(${column}::jsonb))`;
