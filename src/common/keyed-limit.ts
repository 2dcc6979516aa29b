import pLimit, { type LimitFunction } from "p-limit";

/** Returns concurrency limits by name. Each allows `atOnce` tasks at the same time; the others wait. */
export function keyedLimit(atOnce: number): (name: string) => LimitFunction {
  const limits = new Map<string, LimitFunction>();
  return (name) => {
    const limit = limits.get(name) ?? pLimit(atOnce);
    limits.set(name, limit);
    return limit;
  };
}
