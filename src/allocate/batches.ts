/** A day and its estimated work, in rows. */
export interface DayWork {
  readonly day: string;
  readonly work: number;
}

/**
 * Cuts days, in their order, into batches of at most `maxWork` rows and `maxDays` days. A day that exceeds a limit
 * alone is a batch of its own. One statement per batch costs far less than one per day (measured: 50 ms of fixed cost
 * per day), and the limits bound its memory.
 */
export function batchDays(days: readonly DayWork[], maxWork: number, maxDays: number): string[][] {
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
