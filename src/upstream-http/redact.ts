/**
 * Text of an upstream, made fit for logs and error messages: short, on one line, without secrets.
 *
 * An upstream may echo what it was sent, and a proxy's error page may hold whole addresses. The known secrets go first, then
 * whatever looks like a credential. In linear time, since an upstream also says how long the text is: no expression here looks at a
 * character again for each beginning of a match.
 */
import { withoutThese } from "../secrets/known-secrets.js";

const LONGEST = 200;
const HIDDEN = "***";

export function redact(text: string, secrets: readonly string[] = []): string {
  return withoutThese(text, secrets)
    .replace(/:\/\/[^\s/"'<>]*@/g, `://${HIDDEN}@`)
    .replace(/:\/\/[^\s"'<>]*/g, withoutQuery)
    .replace(/\b(basic|bearer)\s+[a-z0-9._~+/=-]{4,}/gi, `$1 ${HIDDEN}`)
    .replace(
      /\b(authorization|password|passwd|secret|token|api[_-]?key|access[_-]?key)(["']?\s*[:=]\s*["']?)(?!\*\*\*)[^\s"'&,;<>]+/gi,
      `$1$2${HIDDEN}`,
    );
}

/** Of an address, from its `://` on. */
function withoutQuery(address: string): string {
  const query = address.indexOf("?");
  return query === -1 ? address : `${address.slice(0, query)}?${HIDDEN}`;
}

/** One line of at most 200 characters. Redacted before it is cut, so that no half of a secret is left at the end. */
export function excerpt(text: string, secrets: readonly string[] = []): string {
  const line = redact(text, secrets)
    .replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ")
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
