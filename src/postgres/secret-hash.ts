import { createHash } from "node:crypto";

/** Unsalted SHA-256 is sufficient for 256 random bits: guessing is infeasible, so a slow hash would add nothing. */
export function secretHash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
