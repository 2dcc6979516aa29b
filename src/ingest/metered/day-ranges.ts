/** Combines sentences about days: consecutive days with the same reason make one sentence. */
import { daysBetween } from "../../common/days.js";

export function dayRanges(missing: readonly { readonly day: string; readonly reason: string }[]): string[] {
  const open = new Map<string, { first: string; last: string }>();
  const sentences: string[] = [];
  const close = (reason: string, { first, last }: { first: string; last: string }) => {
    sentences.push(`${first === last ? first : `${first} to ${last}`}: ${reason}`);
  };
  for (const { day, reason } of missing) {
    const range = open.get(reason);
    if (range !== undefined && daysBetween(range.last, day) === 1) {
      range.last = day;
      continue;
    }
    if (range !== undefined) close(reason, range);
    open.set(reason, { first: day, last: day });
  }
  for (const [reason, range] of open) close(reason, range);
  return sentences;
}
