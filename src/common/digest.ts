/** Digests of values: equal for values with equal JSON. */
import { createHash } from "node:crypto";

/** 32 hexadecimal digits of SHA-256. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
