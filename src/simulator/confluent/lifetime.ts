/** Creation and deletion times of objects: most were created before the history, some within it. */
import { DAY_MS } from "../../common/days.js";
import { chance } from "../hash.js";

export interface SimulatedLifetime {
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly deleted: number | undefined;
}

export interface Era {
  readonly seed: number;
  /** Start and end of the history: midnights in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** One in ten is created and one in ten is deleted within the history. The first four of each kind always exist. */
export function lifetimeOf({ seed, start, end }: Era, kind: number, index: number): SimulatedLifetime {
  const within = (part: number) =>
    Math.floor((start + (end - start) * (0.25 + 0.5 * chance(seed, 21, kind, index, part))) / 1000) * 1000;
  if (index % 10 === 4) return { created: within(1), deleted: undefined };
  const created = start - Math.floor((50 + 500 * chance(seed, 22, kind, index)) * 24) * 3_600_000;
  return { created, deleted: index % 10 === 5 ? within(2) : undefined };
}

export function existsAt({ created, deleted }: SimulatedLifetime, at: number): boolean {
  return created <= at && (deleted === undefined || deleted > at);
}

/** Hours of a day in which the object existed, which the vendor bills. `midnight` is the start of the day. */
export function hoursOn({ created, deleted }: SimulatedLifetime, midnight: number): number {
  const from = Math.max(midnight, created);
  const to = Math.min(midnight + DAY_MS, deleted ?? Number.POSITIVE_INFINITY);
  return Math.max(0, Math.ceil((to - from) / 3_600_000));
}

/** An id that is unique within its kind: a hash in the vendor's style, and the index. */
export function idOf(prefix: string, { seed }: Era, kind: number, index: number): string {
  const digits = Math.floor(chance(seed, 23, kind, index) * 36 ** 4)
    .toString(36)
    .padStart(4, "0");
  return `${prefix}${digits}${index.toString(36)}`;
}

/** Kinds of objects as numbers for hashing. */
export const objectKinds = {
  environment: 1,
  cluster: 2,
  connector: 3,
  ksqldb: 4,
  pool: 5,
  statement: 6,
  identity: 7,
  key: 8,
  provider: 9,
  registry: 10,
} as const;
