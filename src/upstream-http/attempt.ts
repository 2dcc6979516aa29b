/** One request and its answer, with timeouts and a limit on the size of what comes back. No retries, no redirects. */
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
  /** After decompression. */
  readonly maxBytes: number;
  readonly condense?: (() => Condenser) | undefined;
  readonly connections: Connections;
}

/** Makes something short of a body as it comes, so that a large one need not be held. */
export interface Condenser {
  add(bytes: Buffer): void;
  end(): Buffer;
}

export type AttemptOutcome =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  | { readonly kind: "too_large" }
  | NoResponseError;

/** Of an answer that is an error, no more than this is read. */
const LONGEST_ERROR_BYTES = 65_536;

const FORM = "application/x-www-form-urlencoded";

/** Throws only what the signal was aborted with. */
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
    if (status >= 300) return { kind: "answer", status, headers, body: await errorOf(chunks, signal) };
    const whole = await wholeOf(chunks, request);
    return whole === undefined ? { kind: "too_large" } : { kind: "answer", status, headers, body: whole };
  } catch (error) {
    signal.throwIfAborted();
    return noResponse(error);
  } finally {
    either.clear();
  }
}

/** Undefined for more than is taken. */
async function wholeOf(
  chunks: AsyncIterable<Buffer>,
  { maxBytes, condense }: Pick<AttemptRequest, "maxBytes" | "condense">,
): Promise<Buffer | undefined> {
  const condenser = condense?.();
  const held: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length; // after decompression: a small answer can unfold to a large one
    if (size > maxBytes) return undefined;
    if (condenser === undefined) held.push(chunk);
    else condenser.add(chunk);
  }
  return condenser?.end() ?? Buffer.concat(held);
}

/** Of an answer that is an error, as far as it comes: its status says more than that it broke off. */
async function errorOf(chunks: AsyncIterable<Buffer>, signal: AbortSignal): Promise<Buffer> {
  const held: Buffer[] = [];
  try {
    for await (const chunk of startOf(chunks)) held.push(chunk);
  } catch {
    signal.throwIfAborted();
  }
  return Buffer.concat(held);
}

/** As much as is read of an answer that is an error. */
export async function* startOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    yield chunk;
    size += chunk.length;
    if (size > LONGEST_ERROR_BYTES) return;
  }
}

const unpackers = { gzip: createGunzip, br: createBrotliDecompress } as const;

/** Of an encoding that was not asked for, as it comes. To leave off reading ends the connection. */
function unpacked(body: Readable, encoding: unknown): AsyncIterable<Buffer> {
  const name = String(encoding).trim().toLowerCase();
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name as keyof typeof unpackers] : undefined;
  // What goes wrong is thrown to the reader.
  return unpacker === undefined ? body : pipeline(body, unpacker(), () => undefined);
}
