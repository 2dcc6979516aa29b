/** Sizes of simulated Confluent Cloud organisations. */
import type { Size } from "../organisation.js";

/** `lines`: approximate rows of the bill per day. `identities`: total of service accounts, users and identity pools. */
const confluentSizes = {
  tiny: { lines: 80, identities: 20 },
  small: { lines: 150, identities: 40 },
  medium: { lines: 600, identities: 300 },
  large: { lines: 2500, identities: 1000 },
  huge: { lines: 5000, identities: 2000 },
} as const satisfies Readonly<Record<Size, { lines: number; identities: number }>>;

export interface ConfluentOptions {
  readonly seed?: number;
  readonly size?: Size;
  /** Overrides the size. */
  readonly lines?: number;
  readonly identities?: number;
  /** Length of the history in days. Default 30. */
  readonly days?: number;
  /** The current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

export interface Counts {
  readonly environments: number;
  readonly clusters: number;
  readonly connectors: number;
  readonly ksqldb: number;
  readonly pools: number;
  readonly identities: number;
}

/**
 * Counts of objects that produce about `lines` rows a day: a cluster has about five lines a day, a connector two, a
 * Schema Registry four, and the others one. The minimum of each ensures every line type, and objects that are created
 * and deleted.
 */
export function countsOf({ size = "small", ...own }: ConfluentOptions): Counts {
  const { lines, identities } = { ...confluentSizes[size], ...defined(own) };
  const share = (perLine: number, least: number) => Math.max(least, Math.round(lines * perLine));
  const clusters = share(0.132, 6);
  return {
    clusters,
    environments: Math.max(2, Math.ceil(clusters / 10)),
    connectors: share(0.112, 10),
    ksqldb: share(0.03, 2),
    pools: share(0.055, 3),
    identities: Math.max(10, identities),
  };
}

function defined({ lines, identities }: Pick<ConfluentOptions, "lines" | "identities">) {
  return { ...(lines === undefined ? {} : { lines }), ...(identities === undefined ? {} : { identities }) };
}
