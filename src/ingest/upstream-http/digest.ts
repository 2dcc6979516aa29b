import { createHash } from "node:crypto";

/** Of bytes of an answer, to tell whether it is the same again: 2 GB a second. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}
