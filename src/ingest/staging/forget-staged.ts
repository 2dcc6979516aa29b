/** Marks days as no longer staged, before their staged rows are dropped, and returns what was staged. */
import type { Pool } from "pg";
import type { DayRange } from "../../common/days.js";
import type { Ledger } from "../../domain/ledger.js";
import { runStatement } from "../../postgres/statement.js";

/**
 * $1 tenant, $2 epoch, $3 first day, $4 day after the last. The lease row is locked against a new holder while this
 * runs: a holder that has lost its lease changes nothing, and gets no row with `held`.
 */
const forgetStagedOf = ({ state }: Ledger) => `
  WITH lease AS (
    SELECT 1 FROM leases WHERE tenant_name = $1 AND epoch = $2 FOR SHARE
  ), before AS (
    SELECT tracking_date, staged_hash FROM ${state}
    WHERE tenant_name = $1 AND tracking_date >= $3 AND tracking_date < $4 AND EXISTS (SELECT 1 FROM lease)
    FOR UPDATE
  ), forgotten AS (
    UPDATE ${state} AS d SET staged_hash = NULL
    FROM before
    WHERE d.tenant_name = $1 AND d.tracking_date = before.tracking_date AND before.staged_hash IS NOT NULL
    RETURNING before.tracking_date, before.staged_hash
  )
  SELECT EXISTS (SELECT 1 FROM lease) AS held,
         coalesce((SELECT jsonb_object_agg(to_char(tracking_date, 'YYYY-MM-DD'), staged_hash) FROM forgotten), '{}') AS staged`;

/** Returns the hash of what was staged, by day. Undefined if the lease is lost. */
export async function forgetStaged(
  postgres: Pool,
  ledger: Ledger,
  tenantName: string,
  epoch: number,
  { start, end }: DayRange,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { rows } = await runStatement<{ held: boolean; staged: Record<string, string> }>(postgres, {
    query: forgetStagedOf(ledger),
    params: [tenantName, epoch, start, end],
  });
  const [found] = rows;
  return found?.held === true ? new Map(Object.entries(found.staged)) : undefined;
}
