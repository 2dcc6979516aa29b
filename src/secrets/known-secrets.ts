/**
 * The secrets that this process was given, and texts without them. Stores, upstreams and the proxies in front of them may echo what they
 * were sent, so whatever leaves the process as a message passes `withoutSecrets`: the log, the last words of a command, the records of runs.
 */

const HIDDEN = "***";
/** Below this, a "secret" is so common a text that taking it out would only garble the message. */
const SHORTEST_SECRET = 3;
/** Of base64, by the same measure. */
const SHORTEST_BASE64 = 6;

const known = new Set<string>();
let anyKnown: RegExp | undefined;

/** From now on `withoutSecrets` hides these too. */
export function keepSecrets(secrets: Iterable<string>): void {
  const before = known.size;
  for (const secret of secrets) known.add(secret);
  if (known.size > before) anyKnown = anyOf(known);
}

/** The text without any secret of this process, however it is written. */
export function withoutSecrets(text: string): string {
  return anyKnown === undefined ? text : text.replace(anyKnown, HIDDEN);
}

/** The same for every text within a value that JSON can hold. */
export function deepWithoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(deepWithoutSecrets);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, deepWithoutSecrets(part)]));
}

/** The text without these secrets. */
export function withoutThese(text: string, secrets: readonly string[]): string {
  const any = anyOf(secrets);
  return any === undefined ? text : text.replace(any, HIDDEN);
}

/** Matches every form of every secret, the longest first: one may be a part of another. */
function anyOf(secrets: Iterable<string>): RegExp | undefined {
  const forms = new Set([...secrets].filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf));
  if (forms.size === 0) return undefined;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "g");
}

/** How a secret may stand in a text: as it is, in an address, in JSON, in the credentials of an HTTP header. */
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

/** Of the base64 of a longer text, such as `user:secret`, the characters that the secret alone decides, with so many bytes before it. */
function withinBase64(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const first = before === 0 ? 0 : before + 1;
  return bytes.toString("base64").slice(first, Math.floor((bytes.length * 8) / 6));
}
