import { isoTime, midnightSeconds } from "../../time/days.js";
import type { Seen } from "../ecosystem.js";

/** By the first and the last day with costs. */
export function seenOnDays(first: string, last: string): Seen {
  return { first: isoTime(midnightSeconds(first)), last: isoTime(midnightSeconds(last)) };
}
