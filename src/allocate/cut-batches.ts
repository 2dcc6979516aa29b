import { readRows } from "../clickhouse/statement.js";
import type { LedgerJob } from "./allocation-job.js";
import { batchDays } from "./batches.js";
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
