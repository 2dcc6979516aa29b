/**
 * A synthetic organisation: clusters, their principals, and the usage of each hour. Everything is a function of the
 * seed, so that nothing has to be stored, and two simulators with the same seed simulate the same organisation.
 */
import { chance } from "./hash.js";

export const sizes = {
  tiny: { tenants: 1, principals: 8 },
  small: { tenants: 2, principals: 40 },
  medium: { tenants: 4, principals: 300 },
  large: { tenants: 8, principals: 2500 },
  huge: { tenants: 10, principals: 10_000 },
} as const;
export type Size = keyof typeof sizes;

export interface OrganisationOptions {
  readonly seed?: number;
  readonly size?: Size;
  /** Overrides the size. */
  readonly tenants?: number;
  readonly principals?: number;
  /** Length of the history in days. Default 30. */
  readonly days?: number;
  /** The current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

export interface Organisation {
  readonly seed: number;
  readonly clusters: readonly Cluster[];
  readonly days: number;
  readonly now: () => number;
}

export interface Cluster {
  readonly index: number;
  /** Name of the tenant, such as `orders`. */
  readonly name: string;
  /** Value of the label `cluster` of its series, such as `kafka-orders`. */
  readonly id: string;
  readonly principals: readonly string[];
}

const NAMES = ["orders", "payments", "search", "logistics", "pricing", "identity", "reports", "catalogue"];
const JOBS = [
  "gateway",
  "ledger",
  "indexer",
  "notifier",
  "etl",
  "scoring",
  "archive",
  "audit",
  "sync",
  "export",
];

export function createOrganisation(options: OrganisationOptions = {}): Organisation {
  const size = sizes[options.size ?? "small"];
  const principals = options.principals ?? size.principals;
  const clusters = Array.from({ length: options.tenants ?? size.tenants }, (_, index) => {
    const name = index < NAMES.length ? `${NAMES[index]}` : `unit-${index + 1}`;
    return {
      index,
      name,
      id: `kafka-${name}`,
      principals: Array.from(
        { length: principals },
        (_each, rank) => `User:${name}-${JOBS[rank % JOBS.length]}-${rank + 1}`,
      ),
    };
  });
  return { seed: options.seed ?? 1, clusters, days: options.days ?? 30, now: options.now ?? Date.now };
}

export type Direction = "in" | "out";

const HOURS_PER_DAY = 24;
const MIB = 2 ** 20;

/** Whether a principal has series on a day. A few are not deployed for some days. */
export function isPresent({ seed }: Organisation, cluster: Cluster, rank: number, day: number): boolean {
  return chance(seed, 1, cluster.index, rank, Math.floor(day / 5)) >= 0.04;
}

/**
 * Bytes that a principal transfers in an hour (`hour` counts from 1970). A few principals transfer most (the third has
 * a third of the first), one in ten is idle on a given day, some are nightly jobs, and all follow the day and the week.
 */
export function bytesMoved(
  { seed }: Organisation,
  cluster: Cluster,
  { rank, direction, hour }: { rank: number; direction: Direction; hour: number },
): number {
  const day = Math.floor(hour / HOURS_PER_DAY);
  const side = direction === "in" ? 2 : 3;
  if (chance(seed, 4, cluster.index, rank, day) < 0.1) return 0;
  const hourOfDay = hour % HOURS_PER_DAY;
  const nightly = chance(seed, 5, cluster.index, rank) < 0.15;
  if (nightly && hourOfDay > 4) return 0;
  const wave = nightly ? 4 : 1 + 0.6 * Math.sin(((hourOfDay - 8) / HOURS_PER_DAY) * 2 * Math.PI);
  const week = (day + 4) % 7 < 2 ? 0.5 : 1;
  const noise = 0.5 + chance(seed, side, cluster.index, rank, hour);
  return Math.floor((2048 * MIB * wave * week * noise) / (rank + 1));
}

export const BROKERS = 3;

/** Bytes stored on a broker. They grow over the history, and retention removes a little every night. */
export function bytesStored({ seed }: Organisation, cluster: Cluster, broker: number, hour: number): number {
  const hourOfDay = hour % HOURS_PER_DAY;
  const growth = (hour % (HOURS_PER_DAY * 365)) * 3 * MIB;
  const base = 200 * 1024 * MIB * (1 + chance(seed, 6, cluster.index, broker));
  const noise = chance(seed, 7, cluster.index, broker, hour) * 512 * MIB;
  return Math.floor(base + growth + hourOfDay * 64 * MIB + noise);
}
