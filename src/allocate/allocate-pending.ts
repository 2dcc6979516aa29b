import { runStatement } from "../postgres/statement.js";
import type { AllocatePending, LedgerJob } from "./allocation-job.js";
import { attributePending } from "./attribute-pending.js";
import { calculateDays, unallocate } from "./calculate.js";
import { cutBatches } from "./cut-batches.js";
import { ConservationError, conserves, type DayFailures, failDay } from "./fail-day.js";
import { chargebackLedger, topicLedger } from "./ledger.js";
import { type Attributed, isRunOver, publishAttributions, publishChecked } from "./publish-checked.js";
import type { DayCheck } from "./sql/check-conservation.js";
import { type PendingDay, pendingDays } from "./sql/pending-days.js";
import { leaveOutLostInput, marksOf } from "./waiting-days.js";

/**
 * Calculates, checks and publishes every pending day of a tenant in batches: its chargebacks, and its topic
 * attributions if they are enabled. A batch that fails is halved until the failing day is alone, so that one bad day
 * never blocks another. A day that fails stays published as it is, and counts an attempt.
 *
 * A batch is published while the next one is calculated, because swapping partitions waits for the disk and calculating
 * for processors.
 */
export async function allocatePending(input: AllocatePending): Promise<void> {
  const job: LedgerJob = { ...input, ledger: chargebackLedger };
  const found = await runStatement<PendingDay>(input.postgres, pendingDays(input));
  input.onPending(found.rows.length);
  const ready = await leaveOutLostInput(job, found.rows);
  const failures: DayFailures = new Map(ready.map((day) => [day.day, day.allocation_attempts]));
  const attributed = await attribute(input, new Set(failures.keys()));
  const calculating = { ...job, marks: marksOf(ready) };
  let publishing = Promise.resolve();
  for (const batch of await cutBatches(job, [...failures.keys()])) {
    const [calculated, published] = await Promise.allSettled([
      calculateBatch(calculating, batch),
      publishing,
    ]);
    if (published.status === "rejected") throw published.reason;
    publishing = finishBatch({ ...calculating, failures, attributed }, batch, calculated);
  }
  await publishing;
  await publishAttributions(
    job,
    [...attributed.values()].filter((check) => !failures.has(check.day)),
  );
}

async function attribute(input: AllocatePending, calculatedNow: ReadonlySet<string>): Promise<Attributed> {
  if (input.topics === undefined) return new Map();
  const onFailure: LedgerJob["onFailure"] = (day, message, isConservation) =>
    input.onFailure(day, `attribution to topics: ${message}`, isConservation);
  return await attributePending({ ...input, ...input.topics, ledger: topicLedger, onFailure }, calculatedNow);
}

/** State that all batches of a run share. */
interface Batches extends LedgerJob {
  readonly failures: DayFailures;
  readonly attributed: Attributed;
}

async function calculateBatch(job: LedgerJob, days: readonly string[]): Promise<readonly DayCheck[]> {
  job.signal.throwIfAborted();
  const [first] = days;
  if (first === undefined) return [];
  await job.onStage("calculating", first);
  return await calculateDays(job, days);
}

/** Publishes the calculated days. If that fails, tries again with each half of the days. */
async function finishBatch(
  job: Batches,
  days: readonly string[],
  calculated: PromiseSettledResult<readonly DayCheck[]>,
): Promise<void> {
  let checks: readonly DayCheck[];
  try {
    if (calculated.status === "rejected") throw calculated.reason;
    checks = calculated.value;
    await publishChecked(job, checks.filter(conserves), job.attributed);
  } catch (error) {
    if (isRunOver(job, error)) throw error;
    const [first] = days;
    if (days.length === 1 && first !== undefined) return await fail(job, first, error);
    job.logger.warn({ err: error, days: days.length }, "a batch of days failed; trying each half of it");
    const middle = Math.ceil(days.length / 2);
    for (const half of [days.slice(0, middle), days.slice(middle)]) {
      const [again] = await Promise.allSettled([calculateBatch(job, half)]);
      await finishBatch(job, half, again);
    }
    return;
  }
  for (const check of checks.filter((each) => !conserves(each))) {
    await fail(job, check.day, new ConservationError(check));
  }
}

async function fail(job: Batches, day: string, error: unknown): Promise<void> {
  await failDay(job, { day, error, failures: job.failures }, async () => {
    const checks = await unallocate(job, [day]);
    const off = checks.find((check) => !conserves(check));
    if (off !== undefined) throw new ConservationError(off);
    await publishChecked(job, checks, job.attributed);
  });
}
