import { filledDays } from "../clickhouse/partitions.js";
import { stagedTable } from "../clickhouse/staging.js";
import { runStatement } from "../postgres/statement.js";
import type { LedgerJob } from "./allocation-job.js";
import type { DayMarks } from "./calculate.js";
import type { PendingDay } from "./sql/pending-days.js";
import { clearStagedInput } from "./sql/publishing-state.js";

/**
 * Excludes days whose bill is recorded as staged but is missing, because the store was restored or recreated.
 * Calculating them would publish an empty day over a good one. Returns the other days.
 */
export async function leaveOutLostInput<Day extends PendingDay>(
  job: LedgerJob,
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
export function marksOf(days: readonly PendingDay[]): ReadonlyMap<string, DayMarks> {
  return new Map(days.map((day) => [day.day, day]));
}
