/** Reads the bodies of the vendor's APIs: a list with its `metadata`, an object, an error. */
import { digestOfBytes } from "../../../../upstream/http/digest.js";
import { DecodeError } from "../../../../upstream/http/judge.js";

export interface Envelope {
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
export interface DigestedPage {
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
