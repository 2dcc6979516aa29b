/**
 * Redacts text of an upstream for logs and error messages: short, on one line, without secrets.
 *
 * An upstream may echo what it received, and a proxy's error page may contain whole URLs. Known secrets are removed
 * first, then everything that looks like a credential. All of this takes linear time, because the upstream also
 * determines the length of the text: no expression here visits a character again for each possible beginning of a
 * match.
 */
import { withoutThese } from "../../common/known-secrets.js";

const MAX_LENGTH = 200;
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

/** Removes the query of a URL, which is given from its `://` on. */
function withoutQuery(address: string): string {
  const query = address.indexOf("?");
  return query === -1 ? address : `${address.slice(0, query)}?${HIDDEN}`;
}

/**
 * Returns one line of at most 200 characters. The text is redacted before it is shortened, so that no part of a secret
 * remains at the end.
 */
export function excerpt(text: string, secrets: readonly string[] = []): string {
  const line = redact(text, secrets)
    .replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ")
    .trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
