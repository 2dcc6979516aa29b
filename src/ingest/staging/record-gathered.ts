/** Records days that were gathered: which of them wait to be calculated, and which have not changed. */
import type { Pool } from "pg";
import { runStatement } from "../../postgres/statement.js";
import type { DayContent } from "./content-hash.js";
import { missingFromParameter, missingParameter, provisionalCte } from "./provisional.js";

export interface GatheredDays {
  readonly tenantName: string;
  readonly epoch: number;
  readonly contents: readonly DayContent[];
  /** Hashes that were staged before, by day, to tell new input from repeated input. */
  readonly stagedBefore: ReadonlyMap<string, string>;
  readonly inventoryComplete: boolean;
  /** Number of consecutive gatherings with missing data after which a day is final. */
  readonly retryLimit: number;
  /** Also calculate days that have not changed. */
  readonly force: boolean;
  /** Ids of the deliveries that the bill was read from, and the days that were. Other days keep their published bill. */
  readonly read: { readonly deliveries: readonly number[] | undefined; readonly days: readonly string[] };
}

/**
 * $1 tenant, $2 epoch, $3 days, $4 hashes, $5 hashes staged before, $6 missing data, $7 numbers of lines, $8 inventory,
 * $9 force, $10 limit of attempts, $11 deliveries, $12 days that were read from them.
 *
 * A day that is published with this input is not staged. A day without lines needs nothing unless something was
 * published of it. Attempts restart with new input and continue with the same input, so that a day that cannot be
 * calculated reaches its limit however often it is gathered. Returns each day with its verdict; no row at all if the
 * lease is lost.
 */
const RECORD_GATHERED = `
  WITH lease AS (
    SELECT 1 FROM leases WHERE tenant_name = $1 AND epoch = $2 FOR SHARE
  ), found AS (
    SELECT g.day, g.hash, g.before, g.lines, ${missingFromParameter("g.lacks")} AS lacks, d.published_hash, d.publishing_hash,
           coalesce(d.provisional, false) AS was_provisional, coalesce(d.lacks, '{}') AS lacked,
           coalesce(d.provisional_attempts, 0) AS attempts
    FROM unnest($3::date[], $4::text[], $5::text[], $6::text[], $7::bigint[])
         AS g (day, hash, before, lacks, lines)
    LEFT JOIN tracking_dates AS d ON d.tenant_name = $1 AND d.tracking_date = g.day
    WHERE EXISTS (SELECT 1 FROM lease)
  ), ${provisionalCte("$10")}, gathered AS (
    SELECT *, coalesce(published_hash = wanted_hash, false) AND NOT $9::boolean AS unchanged FROM judged
  ), needless AS (
    SELECT day FROM gathered WHERE lines = 0 AND published_hash IS NULL AND publishing_hash IS NULL
  ), removed AS (
    DELETE FROM tracking_dates WHERE tenant_name = $1 AND tracking_date IN (SELECT day FROM needless)
  ), recorded AS (
    INSERT INTO tracking_dates AS d
      (tenant_name, tracking_date, billing_gathered, resources_gathered, staged_hash, lacks, provisional_attempts, billing_lines, staged_deliveries)
    SELECT $1, day, true, $8::boolean, CASE WHEN unchanged THEN NULL ELSE wanted_hash END, missing, provisional_attempts, lines,
      CASE WHEN day = ANY ($12::date[]) THEN $11::bigint[] END
    FROM gathered WHERE day NOT IN (SELECT day FROM needless)
    ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET
      billing_gathered = true,
      resources_gathered = excluded.resources_gathered OR (d.resources_gathered AND excluded.staged_hash IS NULL),
      staged_hash = excluded.staged_hash,
      lacks = excluded.lacks,
      provisional_attempts = excluded.provisional_attempts,
      billing_lines = excluded.billing_lines,
      staged_deliveries = coalesce(excluded.staged_deliveries, d.published_deliveries),
      published_deliveries = CASE WHEN excluded.staged_hash IS NULL THEN coalesce(excluded.staged_deliveries, d.published_deliveries)
                                  ELSE d.published_deliveries END,
      allocation_attempts = CASE WHEN (SELECT renewed FROM gathered WHERE day = d.tracking_date) THEN 0
                                 ELSE d.allocation_attempts END,
      last_error = CASE WHEN (SELECT renewed FROM gathered WHERE day = d.tracking_date) THEN NULL
                        ELSE d.last_error END
  )
  SELECT day,
         CASE WHEN day IN (SELECT day FROM needless) THEN 'empty'
              WHEN unchanged THEN 'unchanged'
              ELSE 'staged' END AS verdict
  FROM gathered ORDER BY day`;

export type DayVerdict = "staged" | "unchanged" | "empty";

/** Returns the verdict on each day. Undefined if the lease is lost. */
export async function recordGathered(
  postgres: Pool,
  { tenantName, epoch, contents, stagedBefore, inventoryComplete, retryLimit, force, read }: GatheredDays,
): Promise<ReadonlyMap<string, DayVerdict> | undefined> {
  if (contents.length === 0) return new Map();
  const { rows } = await runStatement<{ day: string; verdict: DayVerdict }>(postgres, {
    query: RECORD_GATHERED,
    params: [
      tenantName,
      epoch,
      contents.map(({ day }) => day),
      contents.map(({ hash }) => hash),
      contents.map(({ day }) => stagedBefore.get(day) ?? null),
      missingParameter(contents),
      contents.map(({ billingLines }) => billingLines),
      inventoryComplete,
      force,
      retryLimit,
      read.deliveries ?? null,
      read.days,
    ],
  });
  return rows.length === 0 ? undefined : new Map(rows.map(({ day, verdict }) => [day, verdict]));
}
