import { runStatement } from "../postgres/statement.js";
import type { LedgerJob } from "./allocation-job.js";
import { calculateDays, unallocate } from "./calculate.js";
import { cutBatches } from "./cut-batches.js";
import { ConservationError, conserves, type DayFailures, failDay } from "./fail-day.js";
import { isRunOver } from "./publish-checked.js";
import type { DayCheck } from "./sql/check-conservation.js";
import { type PendingAttribution, pendingAttributions } from "./sql/pending-days.js";
import { leaveOutLostInput, marksOf } from "./waiting-days.js";

/**
 * Calculates the pending topic attributions without publishing them: they are published together with the chargebacks
 * of their day. A day whose chargebacks are still pending is left out, because its bill is not visible yet.
 *
 * A failed attribution never delays the chargebacks of its day. Returns the days that can be published.
 */
export async function attributePending(
  job: LedgerJob,
  calculatedNow: ReadonlySet<string>,
): Promise<ReadonlyMap<string, DayCheck>> {
  const { tenantName, postgres } = job;
  const found = await runStatement<PendingAttribution>(postgres, pendingAttributions({ tenantName }));
  const visible = found.rows.filter((row) => !row.has_pending_chargebacks || calculatedNow.has(row.day));
  const ready = await leaveOutLostInput(job, visible);
  const calculating = { ...job, marks: marksOf(ready) };
  const failures: DayFailures = new Map(ready.map((row) => [row.day, row.allocation_attempts]));
  const attributed = new Map<string, DayCheck>();
  for (const batch of await cutBatches(job, [...failures.keys()])) {
    await attributeBatch(calculating, batch, failures, attributed);
  }
  return attributed;
}

/** Calculates a batch. A batch that fails is halved until the failing day is alone. */
async function attributeBatch(
  job: LedgerJob,
  days: readonly string[],
  failures: DayFailures,
  attributed: Map<string, DayCheck>,
): Promise<void> {
  job.signal.throwIfAborted();
  const take = (check: DayCheck) => attributed.set(check.day, check);
  const fail = (day: string, error: unknown) =>
    failDay(job, { day, error, failures }, async () => {
      for (const check of await unallocate(job, [day])) {
        if (!conserves(check)) throw new ConservationError(check);
        take(check);
      }
    });
  let checks: readonly DayCheck[];
  try {
    checks = await calculateDays(job, days);
  } catch (error) {
    if (isRunOver(job, error)) throw error;
    const [first] = days;
    if (days.length === 1 && first !== undefined) return await fail(first, error);
    job.logger.warn({ err: error, days: days.length }, "a batch of days failed; trying each half of it");
    const middle = Math.ceil(days.length / 2);
    await attributeBatch(job, days.slice(0, middle), failures, attributed);
    return await attributeBatch(job, days.slice(middle), failures, attributed);
  }
  checks.filter(conserves).forEach(take);
  for (const check of checks.filter((each) => !conserves(each))) {
    await fail(check.day, new ConservationError(check));
  }
}
