import { ClickHouseError } from "@clickhouse/client";
import { filledDays } from "../clickhouse/partitions.js";
import { stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { runStatement } from "../postgres/statement.js";
import type { AllocatePending, LedgerDays, LedgerJob } from "./allocation-job.js";
import { calculateDays, type DayMarks, halves, unallocate } from "./calculate.js";
import type { NewDeliveries } from "./delivery-changes.js";
import { ConservationError, conserves, type DayFailures, failDay } from "./fail-day.js";
import { chargebackLedger, topicLedger } from "./ledger.js";
import { type Attributed, isRunOver, publishAttributions, publishChecked } from "./publish.js";
import type { RuleSet } from "./rules.js";
import type { DayCheck } from "./sql/check-conservation.js";
import { estimateDays } from "./sql/estimate-days.js";
import {
  type PendingAttribution,
  type PendingChargebacks,
  type PendingDay,
  pendingAttributions,
  pendingDays,
} from "./sql/pending-days.js";
import { clearStagedInput } from "./sql/publishing-state.js";

/**
 * Calculates, checks and publishes every pending day of a tenant in batches: its chargebacks, and its topic
 * attributions if they are enabled. A batch that fails is halved until the failing day is alone, so that one bad day
 * never blocks another. A day that fails stays published as it is, and counts an attempt.
 *
 * A batch is published while the next one is calculated, because swapping partitions waits for the disk and calculating
 * for processors.
 */
export async function allocatePending(input: AllocatePending): Promise<void> {
  const job = { ...input, ledger: chargebackLedger };
  const found = await runStatement<PendingChargebacks>(input.postgres, pendingDays(input));
  input.onPending(found.rows.length);
  const ready = await leaveOutLostInput(job, found.rows);
  const failures: DayFailures = new Map(ready.map((day) => [day.day, day.allocation_attempts]));
  const attributed = await attribute(input, new Set(failures.keys()));
  const newDeliveries = new Map(ready.map(({ day, new_deliveries }) => [day, new_deliveries]));
  const marks = marksOf(ready);
  const size = await batchSize(job, [...failures.keys()]);
  const shared = { ...job, marks, size, failures, attributed, newDeliveries, failed: new Set<string>() };
  let publishing = Promise.resolve();
  for (const { rules, days } of byRules([...failures.keys()], input.rulesOn)) {
    const batches: Batches = { ...shared, rules };
    for (const batch of batchesOf(days, size)) {
      if (readsEarlierDays(batches)) await publishing;
      const [calculated, published] = await Promise.allSettled([calculateBatch(batches, batch), publishing]);
      if (published.status === "rejected") throw published.reason;
      publishing = finishBatch(batches, batch, calculated);
    }
  }
  await publishing;
  await publishAttributions(
    job,
    [...attributed.values()].filter((check) => !failures.has(check.day)),
  );
}

/** Divides days, in their order, into runs of days with the same rules. */
function byRules(days: readonly string[], rulesOn: AllocatePending["rulesOn"]) {
  const runs: { readonly rules: RuleSet; readonly days: string[] }[] = [];
  for (const day of days) {
    const rules = rulesOn(day);
    const last = runs.at(-1);
    if (last?.rules.hash === rules.hash) last.days.push(day);
    else runs.push({ rules, days: [day] });
  }
  return runs;
}

async function attribute(input: AllocatePending, calculatedNow: ReadonlySet<string>): Promise<Attributed> {
  if (input.topics === undefined) return new Map();
  const onFailure: LedgerJob["onFailure"] = (day, message, isConservation) =>
    input.onFailure(day, `attribution to topics: ${message}`, isConservation);
  const job = { ...input, ...input.topics, ledger: topicLedger, hasOtherCosts: false, onFailure };
  return await attributePending(job, calculatedNow);
}

/** State that all batches of a run share. */
interface Batches extends LedgerJob {
  readonly size: BatchSize;
  readonly failures: DayFailures;
  readonly attributed: Attributed;
  readonly newDeliveries: NewDeliveries;
  /** Days that failed in this run and stay published as they were. */
  readonly failed: Set<string>;
}

/**
 * True if a rule or a step weighs by allocated costs of the month. Then the earlier days of a month have to be
 * published before its later days are calculated.
 */
function readsEarlierDays({ rules }: LedgerJob): boolean {
  return [...rules.stages, ...rules.steps].some(({ weights }) =>
    weights.some(({ over }) => over === "month"),
  );
}

async function calculateBatch(job: Batches, days: readonly string[]): Promise<readonly DayCheck[]> {
  job.signal.throwIfAborted();
  const ready = days.filter((day) => !waitsForFailed(job, day));
  const [first] = ready;
  if (first === undefined) return [];
  await job.onStage("calculating", first);
  return await calculateDays(job, ready);
}

/** A day whose weights would lack an earlier day of its month stays pending: the next run calculates both. */
function waitsForFailed(job: Batches, day: string): boolean {
  if (!readsEarlierDays(job)) return false;
  return [...job.failed].some((each) => each < day && each.slice(0, 7) === day.slice(0, 7));
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
    for (const check of checks) if (!conserves(check)) job.failed.add(check.day);
    const ready = checks.filter((check) => conserves(check) && !waitsForFailed(job, check.day));
    await publishChecked(job, ready, job);
  } catch (error) {
    if (isRunOver(job, error)) throw error;
    const [first] = days;
    if (days.length === 1 && first !== undefined) return await fail(job, first, error);
    for (const half of halvesAfter(error, job, days)) {
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
  job.failed.add(day);
  await failDay(job, { day, error, failures: job.failures }, async () => {
    const checks = await unallocate(job, [day]);
    const off = checks.find((check) => !conserves(check));
    if (off !== undefined) throw new ConservationError(off);
    await publishChecked(job, checks, job);
    job.failed.delete(day);
  });
}

/**
 * Calculates the pending topic attributions without publishing them: they are published together with the chargebacks
 * of their day. A day whose chargebacks are still pending is left out, because its bill is not visible yet.
 *
 * A failed attribution never delays the chargebacks of its day. Returns the days that can be published.
 */
async function attributePending(
  job: LedgerJob,
  calculatedNow: ReadonlySet<string>,
): Promise<ReadonlyMap<string, DayCheck>> {
  const { tenantName, postgres } = job;
  const found = await runStatement<PendingAttribution>(postgres, pendingAttributions({ tenantName }));
  const visible = found.rows.filter((row) => !row.has_pending_chargebacks || calculatedNow.has(row.day));
  const ready = await leaveOutLostInput(job, visible);
  const failures: DayFailures = new Map(ready.map((row) => [row.day, row.allocation_attempts]));
  const days = [...failures.keys()];
  const calculating = { ...job, marks: marksOf(ready), size: await batchSize(job, days) };
  const attributed = new Map<string, DayCheck>();
  for (const batch of batchesOf(days, calculating.size)) {
    await attributeBatch(calculating, batch, failures, attributed);
  }
  return attributed;
}

/** Calculates a batch. A batch that fails is halved until the failing day is alone. */
async function attributeBatch(
  job: LedgerJob & { readonly size: BatchSize },
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
    for (const half of halvesAfter(error, job, days)) await attributeBatch(job, half, failures, attributed);
    return;
  }
  checks.filter(conserves).forEach(take);
  for (const check of checks.filter((each) => !conserves(each))) {
    await fail(check.day, new ConservationError(check));
  }
}

/**
 * Excludes days whose bill is recorded as staged but is missing, because the store was restored or recreated.
 * Calculating them would publish an empty day over a good one. Returns the other days.
 */
async function leaveOutLostInput<Day extends PendingDay>(
  job: LedgerDays,
  days: readonly Day[],
): Promise<Day[]> {
  const billing = stagedTable("billing", job.epoch);
  const filled = (await filledDays(job.client, [billing], job.signal)).get(billing);
  const lost = days.filter((day) => day.billing_lines > 0 && !filled?.has(day.day));
  if (lost.length === 0) return [...days];
  const { ledger, tenantName, epoch } = job;
  await runStatement(
    job.postgres,
    clearStagedInput({ ledger, tenantName, epoch, days: lost.map((day) => day.day) }),
  );
  for (const day of lost) {
    job.onFailure(
      day.day,
      "the gathered input is not in the store any more, the day is gathered again",
      false,
    );
  }
  return days.filter((day) => !lost.includes(day));
}

/** Returns the marks that the rows of the days get. */
function marksOf(days: readonly PendingDay[]): ReadonlyMap<string, DayMarks> {
  return new Map(days.map((day) => [day.day, day]));
}

/** How large a batch may be. */
interface BatchSize {
  /** Estimated work of each day, in rows. */
  readonly work: ReadonlyMap<string, number>;
  maxWork: number;
  readonly maxDays: number;
}

async function batchSize(job: LedgerDays, days: readonly string[]): Promise<BatchSize> {
  const { ledger, epoch, maxWork, maxDays } = job;
  const estimated =
    days.length === 0
      ? []
      : await readRows<{ day: string; work: number }>(
          job.client,
          estimateDays({ ledger, epoch, days }),
          job.signal,
        );
  return { work: new Map(estimated.map((row) => [row.day, row.work])), maxWork, maxDays };
}

const workOf = ({ work }: BatchSize, days: readonly string[]) =>
  days.reduce((sum, day) => sum + (work.get(day) ?? 0), 0);

/**
 * Cuts days, in their order, into batches of at most `maxWork` rows and `maxDays` days. A day that exceeds a limit
 * alone is a batch of its own. One statement per batch costs far less than one per day (measured: 50 ms of fixed cost
 * per day), and the limits bound its memory. Each batch is cut when the one before has been calculated, so that it may
 * be smaller.
 */
function* batchesOf(days: readonly string[], size: BatchSize): Generator<string[]> {
  let batch: string[] = [];
  for (const day of days) {
    const isFull = batch.length === size.maxDays || workOf(size, [...batch, day]) > size.maxWork;
    if (batch.length > 0 && isFull) {
      yield batch;
      batch = [];
    }
    batch.push(day);
  }
  if (batch.length > 0) yield batch;
}

/**
 * Returns the halves of a batch that failed. If it took too much memory, the limit is halved as well: rows of a bill
 * with many tags are larger than the estimate assumes, so each later batch would fail and be calculated twice.
 */
function halvesAfter(
  error: unknown,
  { logger, size }: Pick<Batches, "logger" | "size">,
  days: readonly string[],
): (readonly string[])[] {
  if (exceedsMemory(error)) size.maxWork = Math.min(size.maxWork, workOf(size, days) / 2);
  logger.warn({ err: error, days: days.length }, "a batch of days failed; trying each half of it");
  return halves(days);
}

const exceedsMemory = (error: unknown) =>
  error instanceof ClickHouseError && error.type === "MEMORY_LIMIT_EXCEEDED";
