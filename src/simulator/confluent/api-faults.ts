/** Faults of the vendor's simulated APIs. */

interface Scope {
  /** Only requests whose path and query contain this text. Default: all. */
  readonly match?: string;
  /** How many requests fail. Default: all. */
  readonly times?: number;
  /** How many matching requests succeed first. */
  readonly after?: number;
}

/** Headers with the time to wait: none, relative seconds (as the vendor sends), a date, or a time since 1970. */
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
    /** With `match` and without `times`, this simulates an endpoint that is down. */
    | {
        readonly kind: "status";
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
      }
    | { readonly kind: "latency"; readonly ms: number }
    /** The request is accepted, but never gets a response. */
    | { readonly kind: "stall" }
    /** The connection is reset before the response, or in the middle of it. */
    | { readonly kind: "reset"; readonly midway?: boolean }
    /** The response is cut, with a content length that matches. */
    | { readonly kind: "truncated" }
    | { readonly kind: "endless" }
    /** The link to the next page names another host. */
    | { readonly kind: "foreign_next"; readonly host: string }
    /** The list never ends: every page has the same token for the next page. */
    | { readonly kind: "repeated_token" }
    /** The list never ends: every page has the same content and a new token for the next page. */
    | { readonly kind: "new_tokens" }
    /** The list or the bill is empty, and has no next page. */
    | { readonly kind: "empty" }
    /** The response has `null` instead of a list. */
    | { readonly kind: "null_data" }
  );

export interface ApiFaults {
  /** Returns the faults for this request, and counts down their `times`. */
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

/** Headers of a response with status 429. */
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
