/** The bodies of the vendor's APIs: a list with its `metadata`, an object, an error. */
import { digestOf } from "../../../../upstream-http/digest.js";
import { DecodeError } from "../../../../upstream-http/judge.js";

export interface Envelope {
  readonly items: readonly unknown[];
  /** Where the next page is, as the vendor writes it: an address. */
  readonly next: string | undefined;
}

/** Throws `DecodeError`. An answer that was cut short is no JSON, and worth another attempt. */
export function readEnvelope(body: string): Envelope {
  const { data, metadata } = readObject(body);
  // Not even `null` is an empty list: an upstream that has lost its data says so, and the bill would vanish.
  if (!Array.isArray(data)) {
    throw new DecodeError("bad_body", "the response is not a list of the Confluent Cloud API", true);
  }
  const next = isRecord(metadata) ? metadata.next : undefined;
  if (next !== undefined && next !== null && typeof next !== "string") {
    throw new DecodeError("bad_body", "the address of the next page is not text", true);
  }
  return { items: data, next: next ?? undefined };
}

/** A list of which nothing is read but where it goes on. */
export interface Sealed {
  /** Of the bytes of the items. Not of where the next page is, which may be said differently each time. */
  readonly digest: string;
  readonly isEmpty: boolean;
  readonly next: string | undefined;
}

const ITEMS = Buffer.from('"data":[');
const BRACKET = "]".charCodeAt(0);

/**
 * The items are what lies between the first bracket of `data` and the last one of the answer, when everything around them is the
 * JSON of an answer without items; else the whole is read. Throws `DecodeError` as `readEnvelope` does.
 */
export function readSealed(body: Buffer): Sealed {
  const start = body.indexOf(ITEMS) + ITEMS.length;
  const end = body.lastIndexOf(BRACKET);
  if (start >= ITEMS.length && end >= start) {
    const around = envelopeIn(`${body.toString("utf8", 0, start)}${body.toString("utf8", end)}`);
    if (around?.items.length === 0) {
      const items = body.subarray(start, end);
      return {
        digest: digestOf(items),
        isEmpty: items.toString("latin1", 0, 100).trim() === "",
        next: around.next,
      };
    }
  }
  const { items, next } = readEnvelope(body.toString("utf8"));
  return { digest: digestOf(Buffer.from(JSON.stringify(items))), isEmpty: items.length === 0, next };
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
  if (!isRecord(parsed)) throw new DecodeError("bad_body", "the response is not a JSON object", true);
  return parsed;
}

/** Of an error, what the vendor says about it: `errors[].detail`. Undefined when it is no error of the vendor's. */
export function vendorDetail(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || !Array.isArray(parsed.errors)) return undefined;
  const details = parsed.errors.flatMap((error: unknown) => {
    if (!isRecord(error)) return [];
    const said = [error.detail, error.title, error.code].find(
      (text) => typeof text === "string" && text !== "",
    );
    return typeof said === "string" ? [said] : [];
  });
  return details.length === 0 ? undefined : details.join("; ");
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
