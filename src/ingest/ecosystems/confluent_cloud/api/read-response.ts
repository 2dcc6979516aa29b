/** Reads the responses of the vendor's APIs: a page of a list, an object, an error. */
import { DecodeError } from "../../../../upstream/http/client.js";
import { digestOfBytes } from "../../../../upstream/http/digest.js";

interface Envelope {
  readonly items: readonly unknown[];
  /** Address of the next page, as the vendor writes it. */
  readonly next: string | undefined;
}

/** Throws `DecodeError`. A response that was cut off is not JSON, and is retried. */
export function readEnvelope(body: string): Envelope {
  const { data, metadata } = readObject(body);
  // `null` is not an empty list: an upstream that has lost its data returns it, and the bill would vanish.
  if (!Array.isArray(data)) {
    throw new DecodeError("bad_body", "the response is not a list of the Confluent Cloud API", true);
  }
  const next = isJsonObject(metadata) ? metadata.next : undefined;
  if (next !== undefined && next !== null && typeof next !== "string") {
    throw new DecodeError("bad_body", "the address of the next page is not text", true);
  }
  return { items: data, next: next ?? undefined };
}

/** A page of which only the digest and the address of the next page are read. */
interface DigestedPage {
  /** Digest of the bytes of the items. The address of the next page is left out, because it may differ each time. */
  readonly digest: string;
  readonly isEmpty: boolean;
  readonly next: string | undefined;
}

const ITEMS = Buffer.from('"data":[');
const BRACKET = "]".charCodeAt(0);

/**
 * Digests the items without parsing them. They are the bytes between the first bracket of `data` and the last one of
 * the response, if everything around them is a valid response without items; otherwise the whole response is parsed.
 * Throws `DecodeError` like `readEnvelope`.
 */
export function readDigest(body: Buffer): DigestedPage {
  const start = body.indexOf(ITEMS) + ITEMS.length;
  const end = body.lastIndexOf(BRACKET);
  if (start >= ITEMS.length && end >= start) {
    const around = envelopeIn(`${body.toString("utf8", 0, start)}${body.toString("utf8", end)}`);
    if (around?.items.length === 0) {
      const items = body.subarray(start, end);
      return {
        digest: digestOfBytes(items),
        isEmpty: items.toString("latin1", 0, 100).trim() === "",
        next: around.next,
      };
    }
  }
  const { items, next } = readEnvelope(body.toString("utf8"));
  return { digest: digestOfBytes(Buffer.from(JSON.stringify(items))), isEmpty: items.length === 0, next };
}

function envelopeIn(text: string): Envelope | undefined {
  try {
    return readEnvelope(text);
  } catch {
    return undefined;
  }
}

export function readObject(body: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new DecodeError("bad_body", "the response is not JSON, or was cut short", true);
  }
  if (!isJsonObject(parsed)) throw new DecodeError("bad_body", "the response is not a JSON object", true);
  return parsed;
}

/**
 * Returns the vendor's own text of an error: `errors[].detail`. Undefined if the body is not an error of the vendor.
 */
export function vendorDetail(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isJsonObject(parsed) || !Array.isArray(parsed.errors)) return undefined;
  const details = parsed.errors.flatMap((error: unknown) => {
    if (!isJsonObject(error)) return [];
    const detail = [error.detail, error.title, error.code].find(
      (text) => typeof text === "string" && text !== "",
    );
    return typeof detail === "string" ? [detail] : [];
  });
  return details.length === 0 ? undefined : details.join("; ");
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Keeps the numbers of JSON to the last digit. `JSON.parse` turns them into floats, which are wrong for money, and Node
 * 20 has no reviver that sees their text. So numbers are quoted before parsing: `{"amount":0.10}` becomes
 * `{"amount":"0.10"}`.
 *
 * Only tokens outside of strings are changed, and only valid JSON numbers, so invalid JSON stays invalid. 20 MB of a
 * bill take 0.15 s, as much as parsing them.
 */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function quoteNumbers(json: string): string {
  const parts: string[] = [];
  let copied = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(json, at);
      const number = json.slice(at, end);
      if (NUMBER.test(number)) {
        parts.push(json.slice(copied, at), '"', number, '"');
        copied = end;
      }
      at = end;
    } else {
      at += 1;
    }
  }
  parts.push(json.slice(copied));
  return parts.join("");
}

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Index after the closing quote of the string that starts at `from`, or the end of the text if there is none. */
function endOfString(json: string, from: number): number {
  for (let close = json.indexOf('"', from + 1); close !== -1; close = json.indexOf('"', close + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(close - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return close + 1;
  }
  return json.length;
}

/** Index after the last character that could belong to a number. */
function endOfNumber(json: string, from: number): number {
  let at = from + 1;
  for (; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    const belongs =
      isDigit(code) || code === 43 || code === MINUS || code === 46 || code === 69 || code === 101;
    if (!belongs) break;
  }
  return at;
}
