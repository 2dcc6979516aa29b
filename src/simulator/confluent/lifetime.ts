/** When things of the organisation came into being and went away: most before the history, some within it. */
import { DAY_MS } from "../../time/days.js";
import { chance } from "../hash.js";

export interface Lifetime {
  /** In milliseconds since 1970. */
  readonly created: number;
  readonly deleted: number | undefined;
}

export interface Era {
  readonly seed: number;
  /** The history: midnights in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** One in ten is created within the history, and one in ten deleted; the first four of each kind are there throughout. */
export function lifetimeOf({ seed, start, end }: Era, kind: number, index: number): Lifetime {
  const within = (part: number) =>
    Math.floor((start + (end - start) * (0.25 + 0.5 * chance(seed, 21, kind, index, part))) / 1000) * 1000;
  if (index % 10 === 4) return { created: within(1), deleted: undefined };
  const created = start - Math.floor((50 + 500 * chance(seed, 22, kind, index)) * 24) * 3_600_000;
  return { created, deleted: index % 10 === 5 ? within(2) : undefined };
}

export function existsAt({ created, deleted }: Lifetime, at: number): boolean {
  return created <= at && (deleted === undefined || deleted > at);
}

/** Hours of a day (its midnight) that it existed: what the vendor bills. */
export function hoursOn({ created, deleted }: Lifetime, midnight: number): number {
  const from = Math.max(midnight, created);
  const to = Math.min(midnight + DAY_MS, deleted ?? Number.POSITIVE_INFINITY);
  return Math.max(0, Math.ceil((to - from) / 3_600_000));
}

/** A name that no other of its kind has: a hash that looks like the vendor's, and the index. */
export function idOf(prefix: string, { seed }: Era, kind: number, index: number): string {
  const digits = Math.floor(chance(seed, 23, kind, index) * 36 ** 4)
    .toString(36)
    .padStart(4, "0");
  return `${prefix}${digits}${index.toString(36)}`;
}

/** The kinds, as numbers to hash with. */
export const kinds = {
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
