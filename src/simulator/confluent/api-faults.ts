/** What can go wrong with the vendor's APIs, on purpose. */

interface Scope {
  /** Only requests whose address (path and query) holds this text. Default: all. */
  readonly match?: string;
  /** How many requests are hit. Default: all. */
  readonly times?: number;
  /** How many requests that match go well before. */
  readonly after?: number;
}

/** How the wait is told: nothing at all, a number of seconds (relative, as the vendor does), a date, or a time since 1970. */
export const waitHeaders = [
  "none",
  "retry-after",
  "retry-after-date",
  "ratelimit-reset",
  "x-ratelimit-reset",
  "x-ratelimit-reset-epoch",
] as const;
export type WaitHeader = (typeof waitHeaders)[number];

export type ApiFault = Scope &
  (
    | { readonly kind: "rate_limited"; readonly header?: WaitHeader; readonly seconds?: number }
    /** With a `match` and without `times`: a dead endpoint. */
    | {
        readonly kind: "status";
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
      }
    | { readonly kind: "latency"; readonly ms: number }
    /** The request is taken and never answered. */
    | { readonly kind: "stall" }
    /** The connection breaks before an answer, or in the middle of it. */
    | { readonly kind: "reset"; readonly midway?: boolean }
    /** The answer is cut, and claims to be whole. */
    | { readonly kind: "truncated" }
    | { readonly kind: "endless" }
    /** The list is said to go on at another host. */
    | { readonly kind: "foreign_next"; readonly host: string }
    /** The list never ends: every page names the same token as its next. */
    | { readonly kind: "repeated_token" }
    /** The list never ends: every page is the same one, and names a new token as its next. */
    | { readonly kind: "new_tokens" }
    /** A list, or the bill, is empty, and says that this is all. */
    | { readonly kind: "empty" }
    /** The answer has `null` where its list should be. */
    | { readonly kind: "null_data" }
  );

export interface ApiFaults {
  /** Faults that hit this request; counts them down. */
  take(address: string): ApiFault[];
  set(faults: readonly ApiFault[]): void;
}

export function createApiFaults(initial: readonly ApiFault[]): ApiFaults {
  const armed = (faults: readonly ApiFault[]) =>
    faults.map((fault) => ({
      fault,
      spared: fault.after ?? 0,
      left: fault.times ?? Number.POSITIVE_INFINITY,
    }));
  let current = armed(initial);
  return {
    set(faults) {
      current = armed(faults);
    },
    take(address) {
      const hit: ApiFault[] = [];
      for (const entry of current) {
        if (entry.left === 0 || !address.includes(entry.fault.match ?? "")) continue;
        if (entry.spared > 0) {
          entry.spared -= 1;
          continue;
        }
        entry.left -= 1;
        hit.push(entry.fault);
      }
      return hit;
    },
  };
}

/** Headers of a 429. */
export function waitHeader(header: WaitHeader, seconds: number, now: number): Record<string, string> {
  if (header === "none") return {};
  if (header === "retry-after-date") {
    return { "retry-after": new Date(now + seconds * 1000).toUTCString() };
  }
  if (header === "x-ratelimit-reset-epoch") {
    return { "x-ratelimit-reset": String(Math.ceil(now / 1000) + seconds) };
  }
  return { [header]: String(seconds) };
}
