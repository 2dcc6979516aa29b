/** Faults of a simulated Prometheus. */
import { dayOf } from "../common/days.js";

/** `times` limits how many requests fail (default: all). `match` selects requests whose query contains this text. */
interface Scope {
  readonly times?: number;
  readonly match?: string;
}

export type Fault =
  | ({ readonly kind: "latency"; readonly ms: number } & Scope)
  /** `headers` are sent with the response, such as `retry-after`. */
  | ({
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    } & Scope)
  /** The connection is reset before the response, or in the middle of it. */
  | ({ readonly kind: "reset"; readonly midway?: boolean } & Scope)
  /** The response is cut, with a content length that matches. */
  | ({ readonly kind: "truncated" } & Scope)
  | ({ readonly kind: "endless" } & Scope)
  | ({ readonly kind: "warnings"; readonly warnings: readonly string[] } & Scope)
  /** Queries that touch one of the days fail with 503. */
  | ({ readonly kind: "outage"; readonly days: readonly string[] } & Scope)
  /** Those days have no samples, as if Prometheus had not scraped. */
  | { readonly kind: "missing_days"; readonly days: readonly string[]; readonly metric?: string }
  /** Every nth sample is NaN or infinite. */
  | { readonly kind: "not_finite"; readonly value: "NaN" | "+Inf"; readonly every: number }
  /** The values of a day have changed: they are multiplied by `factor`. */
  | { readonly kind: "revision"; readonly day: string; readonly factor: number };

type RequestKind = "latency" | "status" | "reset" | "truncated" | "endless" | "warnings" | "outage";
const requestKinds: ReadonlySet<Fault["kind"]> = new Set<RequestKind>([
  "latency",
  "status",
  "reset",
  "truncated",
  "endless",
  "warnings",
  "outage",
]);

export interface Faults {
  /** Returns the faults for this request, and counts down their `times`. */
  take(query: string, points: readonly number[]): Extract<Fault, { kind: RequestKind }>[];
  distort(metric: string, second: number, value: number): number | undefined;
  set(faults: readonly Fault[]): void;
}

export function createFaults(initial: readonly Fault[]): Faults {
  let faults = initial.map((fault) => ({ fault, left: timesOf(fault) }));
  let samples = 0;
  return {
    set(next) {
      faults = next.map((fault) => ({ fault, left: timesOf(fault) }));
    },
    take(query, points) {
      const hit: Extract<Fault, { kind: RequestKind }>[] = [];
      for (const entry of faults) {
        const { fault } = entry;
        if (!isRequestFault(fault) || entry.left === 0 || !query.includes(fault.match ?? "")) continue;
        if (fault.kind === "outage" && !points.some((point) => fault.days.includes(dayUpTo(point)))) continue;
        entry.left -= 1;
        hit.push(fault);
      }
      return hit;
    },
    distort(metric, second, value) {
      let distorted: number | undefined = value;
      for (const { fault } of faults) {
        if (distorted === undefined) return undefined;
        if (
          fault.kind === "missing_days" &&
          metric === (fault.metric ?? metric) &&
          fault.days.includes(dayUpTo(second))
        ) {
          distorted = undefined;
        } else if (fault.kind === "revision" && fault.day === dayUpTo(second)) {
          distorted = Math.floor(distorted * fault.factor);
        } else if (fault.kind === "not_finite") {
          samples += 1;
          if (samples % fault.every === 0)
            distorted = fault.value === "NaN" ? Number.NaN : Number.POSITIVE_INFINITY;
        }
      }
      return distorted;
    },
  };
}

function isRequestFault(fault: Fault): fault is Extract<Fault, { kind: RequestKind }> {
  return requestKinds.has(fault.kind);
}

function timesOf(fault: Fault): number {
  return isRequestFault(fault) ? (fault.times ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** A point at midnight belongs to the day that ends there. */
function dayUpTo(second: number): string {
  return dayOf(new Date(second * 1000 - 1));
}
