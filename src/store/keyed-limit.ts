import pLimit, { type LimitFunction } from "p-limit";

/** Waiting lines by name, each of which lets so many through at once. */
export function keyedLimit(atOnce: number): (name: string) => LimitFunction {
  const lines = new Map<string, LimitFunction>();
  return (name) => {
    const line = lines.get(name) ?? pLimit(atOnce);
    lines.set(name, line);
    return line;
  };
}
