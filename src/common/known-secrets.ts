/**
 * Secrets of this process, and functions that mask them. Stores, upstreams and proxies in front of them may echo
 * requests, so every message that leaves the process passes `withoutSecrets`: the log, final errors of commands, and
 * the records of runs.
 */

const HIDDEN = "***";
/** Shorter secrets are too common as text: masking them would only garble messages. */
const SHORTEST_SECRET = 3;
/** The same limit for base64. */
const SHORTEST_BASE64 = 6;

const known = new Set<string>();
let anyKnown: RegExp | undefined;

/** Makes `withoutSecrets` mask these secrets, too. */
export function keepSecrets(secrets: Iterable<string>): void {
  const before = known.size;
  for (const secret of secrets) known.add(secret);
  if (known.size > before) anyKnown = anyOf(known);
}

/** Masks all secrets of this process in any encoding. */
export function withoutSecrets(text: string): string {
  return anyKnown === undefined ? text : text.replace(anyKnown, HIDDEN);
}

/** Masks secrets in all texts of a JSON value. */
export function deepWithoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(deepWithoutSecrets);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, deepWithoutSecrets(part)]));
}

/** Masks the given secrets only. */
export function withoutThese(text: string, secrets: readonly string[]): string {
  const any = anyOf(secrets);
  return any === undefined ? text : text.replace(any, HIDDEN);
}

/** Matches every encoding of every secret, the longest first, because one may be part of another. */
function anyOf(secrets: Iterable<string>): RegExp | undefined {
  const forms = new Set([...secrets].filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf));
  if (forms.size === 0) return undefined;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "g");
}

/** Encodings of a secret: plain, in a URL, in JSON, in the credentials of an HTTP header. */
function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(secret).toString());
  return [
    secret,
    encoded,
    encoded.replace(/%../g, (byte) => byte.toLowerCase()),
    encoded.replaceAll("%20", "+"),
    JSON.stringify(secret).slice(1, -1),
    ...[0, 1, 2]
      .map((before) => withinBase64(secret, before))
      .filter(({ length }) => length >= SHORTEST_BASE64),
  ];
}

/**
 * Returns the characters that the secret alone determines in the base64 of a longer text such as `user:secret`, with
 * `before` bytes before it (modulo 3).
 */
function withinBase64(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const first = before === 0 ? 0 : before + 1;
  return bytes.toString("base64").slice(first, Math.floor((bytes.length * 8) / 6));
}
