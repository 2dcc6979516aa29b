/** How large a simulated Confluent Cloud organisation is. */
import type { Size } from "../organisation.js";

/** `lines`: about so many rows of the bill a day. `identities`: service accounts, users and identity pools in all. */
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
  /** Overrides of the size. */
  readonly lines?: number;
  readonly identities?: number;
  /** How many days back its history goes. Default 30. */
  readonly days?: number;
  /** The present, in milliseconds since 1970. Default: the clock. */
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
 * Counts that lead to about so many lines: a cluster has some five lines a day, a connector two, a Schema Registry four, the
 * others one. The least of each is what it takes to have every line type and both ends of a lifetime.
 */
export function countsOf({ size = "small", ...own }: ConfluentOptions): Counts {
  const { lines, identities } = { ...confluentSizes[size], ...defined(own) };
  const share = (of: number, least: number) => Math.max(least, Math.round(lines * of));
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
