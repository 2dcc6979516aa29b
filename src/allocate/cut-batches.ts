import { readRows } from "../clickhouse/statement.js";
import type { LedgerJob } from "./allocation-job.js";
import { estimateDays } from "./sql/estimate-days.js";

/** Cuts days into batches by their estimated work. */
export async function cutBatches(job: LedgerJob, days: readonly string[]): Promise<string[][]> {
  if (days.length === 0) return [];
  const { ledger, epoch } = job;
  const estimated = await readRows<{ day: string; work: number }>(
    job.client,
    estimateDays({ ledger, epoch, days }),
    job.signal,
  );
  const work = new Map(estimated.map((row) => [row.day, row.work]));
  return batchDays(
    days.map((day) => ({ day, work: work.get(day) ?? 0 })),
    job.maxWork,
    job.maxDays,
  );
}

/** A day and its estimated work, in rows. */
interface DayWork {
  readonly day: string;
  readonly work: number;
}

/**
 * Cuts days, in their order, into batches of at most `maxWork` rows and `maxDays` days. A day that exceeds a limit
 * alone is a batch of its own. One statement per batch costs far less than one per day (measured: 50 ms of fixed cost
 * per day), and the limits bound its memory.
 */
function batchDays(days: readonly DayWork[], maxWork: number, maxDays: number): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let work = 0;
  for (const day of days) {
    if (batch.length > 0 && (work + day.work > maxWork || batch.length === maxDays)) {
      batches.push(batch);
      batch = [];
      work = 0;
    }
    batch.push(day.day);
    work += day.work;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
