/** The states of a window's days while the window is staged. */

export type DayState =
  /** Not gathered completely, or with rows that cannot be stored. The published day stays. */
  | "incomplete"
  /** The published bill has lines that the gathered one lacks. The published day stays. */
  | "less_than_published"
  /** The bill has lost most of its amount. The published day stays until a second run gets the same bill. */
  | "suspicious"
  /** The upstream has dropped the samples, so the day was staged exactly as it is published. */
  | "restored"
  /** Gathered completely enough to be calculated. */
  | "measured";

export interface DayStates {
  set(days: readonly string[], state: DayState): void;
  /** Returns the days in one of the states, ascending. */
  in(...states: readonly DayState[]): string[];
}

/** Returns a table in which each day is `incomplete`. `days` ascend. */
export function createDayStates(days: readonly string[]): DayStates {
  const table = new Map<string, DayState>(days.map((day) => [day, "incomplete"]));
  return {
    set(changed, state) {
      for (const day of changed) table.set(day, state);
    },
    in: (...states) => [...table].filter(([, state]) => states.includes(state)).map(([day]) => day),
  };
}
