import { DAY_SECONDS, dayOf } from "../common/days.js";
import { runStatement } from "../postgres/statement.js";
import type { BegunRun } from "./run-context.js";
import { type OtherClocks, otherClocks, recordClock } from "./sql/clocks.js";

/** The most days that a clock may be ahead of the clock of Postgres. */
const MOST_DAYS_AHEAD = 1;
/** After a longer pause a person has to confirm that the clock is right. */
const LONGEST_PAUSE_DAYS = 30;

/**
 * Refuses a run whose clock is far ahead. Such a run would drop published days as too old, and bill days in the future.
 * The clock is compared with the clock of Postgres, which is another one if Postgres runs elsewhere, and with the
 * tenant's last run.
 */
export async function checkClock(
  { stores, tenant, request }: Pick<BegunRun, "stores" | "tenant" | "request">,
  clock: Date,
): Promise<void> {
  const { postgres } = stores;
  const { tenant_name: tenantName } = tenant;
  const { rows } = await runStatement<OtherClocks>(postgres, otherClocks(tenantName));
  const isConfirmed = request.force === true || request.forceGather === true;
  for (const other of isConfirmed ? [] : rows) {
    const ahead = daysBetween(other.postgres, clock) > MOST_DAYS_AHEAD;
    const pause = other.run_clock === null ? 0 : daysBetween(other.run_clock, clock);
    const reason = ahead
      ? `the clock of Postgres says ${dayOf(other.postgres)}`
      : `the last run was ${Math.floor(pause)} days before`;
    if (ahead || pause > LONGEST_PAUSE_DAYS)
      throw new Error(
        `the clock says ${dayOf(clock)}, and ${reason}: nothing was gathered or dropped. If the clock is right, run the tenant once with --force, or with force_gather by the API`,
      );
  }
  await runStatement(postgres, recordClock({ tenantName, clock }));
}

function daysBetween(earlier: Date, later: Date): number {
  return (later.getTime() - earlier.getTime()) / 1000 / DAY_SECONDS;
}
