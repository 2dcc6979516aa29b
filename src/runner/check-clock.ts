import { runStatement } from "../store/postgres/statement.js";
import { DAY_SECONDS, dayOf } from "../time/days.js";
import type { BegunRun } from "./run-context.js";
import { noteClock, type OtherClocks, otherClocks } from "./sql/clocks.js";

/** So far a clock may be ahead of that of Postgres. */
const MOST_DAYS_AHEAD = 1;
/** After a longer pause somebody has to say that the clock is right. */
const LONGEST_PAUSE_DAYS = 30;

/**
 * Refuses a run whose clock is far ahead: it would take published days for too old to be kept, and bill days that have not been yet. The
 * second opinions are the clock of Postgres, which is another one where Postgres runs elsewhere, and the last run of the tenant.
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
    const why = ahead
      ? `the clock of Postgres says ${dayOf(other.postgres)}`
      : `the last run was ${Math.floor(pause)} days before`;
    if (ahead || pause > LONGEST_PAUSE_DAYS)
      throw new Error(
        `the clock says ${dayOf(clock)}, and ${why}: nothing was gathered or dropped. If the clock is right, run the tenant once with --force, or with force_gather by the API`,
      );
  }
  await runStatement(postgres, noteClock({ tenantName, clock }));
}

function daysBetween(earlier: Date, later: Date): number {
  return (later.getTime() - earlier.getTime()) / 1000 / DAY_SECONDS;
}
