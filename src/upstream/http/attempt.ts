/** One request and its response, with timeouts and a limit on the size of the response. No retries, no redirects. */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { anySignal } from "any-signal";
import { request as send } from "undici";
import { type Connections, type NoResponseError, noResponse } from "./connections.js";

export interface AttemptRequest {
  readonly url: URL;
  readonly method: "GET" | "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | undefined;
  /** From the start to the last byte. */
  readonly timeoutMs: number;
  /** Maximum size of the response after decompression. */
  readonly maxBytes: number;
  readonly condense?: (() => Condenser) | undefined;
  readonly connections: Connections;
}

/** Condenses a body while it arrives, so that a large one need not be buffered. */
export interface Condenser {
  add(bytes: Buffer): void;
  end(): Buffer;
}

export type AttemptOutcome =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  | { readonly kind: "too_large" }
  | NoResponseError;

/** At most this much of an error response is read. */
const LONGEST_ERROR_BYTES = 65_536;

const FORM = "application/x-www-form-urlencoded";

/** Throws only the signal's reason. */
export async function attempt(request: AttemptRequest, signal: AbortSignal): Promise<AttemptOutcome> {
  const { url, method, form, connections } = request;
  const either = anySignal([signal, AbortSignal.timeout(request.timeoutMs)]);
  try {
    const {
      statusCode: status,
      headers,
      body,
    } = await send(url, {
      method,
      headers: {
        "accept-encoding": Object.keys(unpackers).join(", "),
        ...(form !== undefined && { "content-type": FORM }),
        ...request.headers,
      },
      ...(form !== undefined && { body: new URLSearchParams(form).toString() }),
      dispatcher: connections,
      signal: either,
    });
    const chunks = unpacked(body, headers["content-encoding"]);
    if (status >= 300) return { kind: "response", status, headers, body: await errorOf(chunks, signal) };
    const whole = await wholeOf(chunks, request);
    return whole === undefined ? { kind: "too_large" } : { kind: "response", status, headers, body: whole };
  } catch (error) {
    signal.throwIfAborted();
    return noResponse(error);
  } finally {
    either.clear();
  }
}

/** Returns undefined if the body is too large. */
async function wholeOf(
  chunks: AsyncIterable<Buffer>,
  { maxBytes, condense }: Pick<AttemptRequest, "maxBytes" | "condense">,
): Promise<Buffer | undefined> {
  const condenser = condense?.();
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length; // after decompression, because a small response may expand to a large one
    if (size > maxBytes) return undefined;
    if (condenser === undefined) parts.push(chunk);
    else condenser.add(chunk);
  }
  return condenser?.end() ?? Buffer.concat(parts);
}

/** Reads an error response as far as it arrives: its status is more useful than the fact that its body was cut off. */
async function errorOf(chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const chunk of startOf(chunks)) parts.push(chunk);
  } catch {
    signal.throwIfAborted();
  }
  return Buffer.concat(parts);
}

/** Yields the part of an error response that is read. */
export async function* startOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    yield chunk;
    size += chunk.length;
    if (size > LONGEST_ERROR_BYTES) return;
  }
}

const unpackers = { gzip: createGunzip, br: createBrotliDecompress } as const;

/**
 * Decompresses a body. An encoding that was not requested is passed on unchanged. Stopping to read ends the connection.
 */
function unpacked(body: Readable, encoding: unknown): AsyncIterable<Buffer> {
  const name = String(encoding).trim().toLowerCase();
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name as keyof typeof unpackers] : undefined;
  // Errors are thrown to the reader.
  return unpacker === undefined ? body : pipeline(body, unpacker(), () => undefined);
}
