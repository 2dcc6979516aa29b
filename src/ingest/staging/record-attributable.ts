/** Records days whose usage of topics was gathered: which of them wait to be attributed, and which have not changed. */
import type { Pool } from "pg";
import { runStatement } from "../../postgres/statement.js";
import { type DayContent, EMPTY_DAY_HASH } from "./content-hash.js";
import { missingFromParameter, missingParameter, provisionalCte } from "./provisional.js";

export interface AttributableDays {
  readonly tenantName: string;
  readonly epoch: number;
  readonly contents: readonly DayContent[];
  /** Hashes that were staged before, by day, to tell new input from repeated input. */
  readonly stagedBefore: ReadonlyMap<string, string>;
  /** Number of consecutive gatherings with missing data after which a day is final. */
  readonly retryLimit: number;
  /** Also attribute days that have not changed. */
  readonly force: boolean;
}

/**
 * $1 tenant, $2 epoch, $3 days, $4 hashes, $5 hashes staged before, $6 missing data, $7 numbers of lines, $8 force, $9
 * hash of a day without lines, $10 limit of attempts.
 *
 * The same rules as for chargebacks: a day that was attributed with this input needs nothing, nor does a day without
 * lines that was never attributed; attempts restart with new input. Returns the days that wait; no row with `held` if
 * the lease is lost.
 */
const RECORD_ATTRIBUTABLE = `
  WITH lease AS (
    SELECT 1 FROM leases WHERE tenant_name = $1 AND epoch = $2 FOR SHARE
  ), found AS (
    SELECT g.day, g.hash, g.before, g.lines, ${missingFromParameter("g.lacks")} AS lacks, a.published_hash,
           coalesce(a.provisional, false) AS was_provisional, coalesce(a.lacks, '{}') AS lacked,
           coalesce(a.provisional_attempts, 0) AS attempts
    FROM unnest($3::date[], $4::text[], $5::text[], $6::text[], $7::bigint[])
         AS g (day, hash, before, lacks, lines)
    JOIN tracking_dates AS d ON d.tenant_name = $1 AND d.tracking_date = g.day
    LEFT JOIN topic_attribution_dates AS a ON a.tenant_name = $1 AND a.tracking_date = g.day
    WHERE EXISTS (SELECT 1 FROM lease) AND (g.lines > 0 OR a.tracking_date IS NOT NULL)
  ), ${provisionalCte("$10")}, gathered AS (
    SELECT *, coalesce(published_hash = wanted_hash, hash = $9) AND NOT ($8::boolean AND lines > 0) AS unchanged FROM judged
  ), recorded AS (
    INSERT INTO topic_attribution_dates AS a
      (tenant_name, tracking_date, staged_hash, lacks, provisional_attempts, billing_lines)
    SELECT $1, day, CASE WHEN unchanged THEN NULL ELSE wanted_hash END, missing, provisional_attempts, lines FROM gathered
    ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET
      staged_hash = excluded.staged_hash,
      lacks = excluded.lacks,
      provisional_attempts = excluded.provisional_attempts,
      billing_lines = excluded.billing_lines,
      attribution_attempts = CASE WHEN (SELECT renewed FROM gathered WHERE day = a.tracking_date) THEN 0
                                  ELSE a.attribution_attempts END,
      last_error = CASE WHEN (SELECT renewed FROM gathered WHERE day = a.tracking_date) THEN NULL
                        ELSE a.last_error END
  )
  SELECT EXISTS (SELECT 1 FROM lease) AS held,
         coalesce((SELECT array_agg(to_char(day, 'YYYY-MM-DD') ORDER BY day) FROM gathered WHERE NOT unchanged), '{}') AS waiting`;

/** Returns days that wait for their attribution, ascending. Undefined if the lease is lost. */
export async function recordAttributable(
  postgres: Pool,
  { tenantName, epoch, contents, stagedBefore, retryLimit, force }: AttributableDays,
): Promise<readonly string[] | undefined> {
  if (contents.length === 0) return [];
  const { rows } = await runStatement<{ held: boolean; waiting: string[] }>(postgres, {
    query: RECORD_ATTRIBUTABLE,
    params: [
      tenantName,
      epoch,
      contents.map(({ day }) => day),
      contents.map(({ hash }) => hash),
      contents.map(({ day }) => stagedBefore.get(day) ?? null),
      missingParameter(contents),
      contents.map(({ billingLines }) => billingLines),
      force,
      EMPTY_DAY_HASH,
      retryLimit,
    ],
  });
  const [recorded] = rows;
  return recorded?.held === true ? recorded.waiting : undefined;
}
