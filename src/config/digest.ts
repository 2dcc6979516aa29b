/** What values come down to: two that are the same as JSON have the same digest. */
import { createHash } from "node:crypto";

/** 32 hexadecimal digits of SHA-256. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
