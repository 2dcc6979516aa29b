/**
 * The response to a query. Its first bytes are held back, so that a query that fails early, and any small one, gets the
 * correct status. A query that fails later ends with the exception block of servers ≥ 25.11, and the connection is cut
 * before the last chunk. A client that supports the block gets the error. Others see a truncated body.
 */
import { randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { constants, createGzip } from "node:zlib";
import { type ServerException, statusOf } from "./exception.js";
import type { OutputListener } from "./output-pipe.js";

/** Bytes held back before the head is sent. */
export const HOLD_BYTES = 256 * 1024;
/** How long a client may take to read what was written before an error. */
const SLOW_CLIENT_MS = 60_000;
/** How long a client may take to unpack what it has, find the exception block and close the connection. */
const GRACE_MS = 10_000;

export interface ResponseOptions {
  /** As far as known when the head is sent. */
  readonly headers: () => OutgoingHttpHeaders;
  /** How many bytes are held back before the head is sent. */
  readonly holdBytes: number;
  /** X-ClickHouse-Summary, as far as known when the head is sent. */
  readonly summary: () => string;
  readonly gzipLevel: number | undefined;
  /** Encodes an error that is the whole response. Clients of compressed blocks unpack it as well. */
  readonly encodeException: (body: Buffer) => Buffer;
  readonly version: string;
  /** Called when the client can receive more, after a `write` that returned false. */
  readonly onDrain: () => void;
}

export interface QueryResponse {
  /**
   * Returns false if the client is behind; wait for `onDrain`. The chunk must not change before `passedOn` is called.
   */
  readonly write: OutputListener;
  end(): Promise<void>;
  fail(exception: ServerException): Promise<void>;
  /** Instead of `end` or `fail`, if the client has disconnected. */
  discard(): Promise<void>;
}

export function queryResponse(response: ServerResponse, options: ResponseOptions): QueryResponse {
  const tag = randomBytes(8).toString("hex");
  const gzip = options.gzipLevel === undefined ? undefined : createGzip({ level: options.gzipLevel });
  const target: Writable = gzip ?? response;
  let buffered: Buffer[] | undefined = [];
  let bufferedBytes = 0;
  gzip?.pipe(response);
  target.on("drain", options.onDrain);

  function sendHead(contentLength?: number): void {
    response.writeHead(200, {
      ...options.headers(),
      "X-ClickHouse-Summary": options.summary(),
      "X-ClickHouse-Exception-Tag": tag,
      ...(gzip === undefined ? {} : { "Content-Encoding": "gzip" }),
      ...(gzip !== undefined || contentLength === undefined ? {} : { "Content-Length": contentLength }),
    });
  }

  return {
    write(chunk, passedOn) {
      if (buffered === undefined) return target.write(chunk, passedOn);
      buffered.push(passedOn === undefined ? chunk : Buffer.from(chunk));
      passedOn?.();
      bufferedBytes += chunk.length;
      if (bufferedBytes < options.holdBytes) return true;
      sendHead();
      const first = Buffer.concat(buffered);
      buffered = undefined;
      return target.write(first);
    },
    async end() {
      if (buffered !== undefined) {
        const whole = Buffer.concat(buffered);
        buffered = undefined;
        sendHead(whole.length);
        target.end(whole);
      } else target.end();
    },
    async fail(exception) {
      if (buffered !== undefined) {
        buffered = undefined;
        sendException(response, exception, options.version, options.headers(), options.encodeException);
        return;
      }
      const block = exceptionBlock(tag, exception.body(options.version));
      const waiting = () => (gzip?.readableLength ?? 0) + response.writableLength;
      if (gzip === undefined) await untilRead(response, waiting);
      if (gzip === undefined) await written(response, block);
      else {
        gzip.flush(constants.Z_SYNC_FLUSH);
        await written(gzip, block);
        await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
      }
      await cut(response, waiting);
    },
    async discard() {
      gzip?.destroy();
    },
  };
}

export function sendException(
  response: ServerResponse,
  exception: ServerException,
  version: string,
  headers: OutgoingHttpHeaders = {},
  encode: (body: Buffer) => Buffer = (body) => body,
): void {
  const body = encode(Buffer.from(exception.body(version)));
  const status = statusOf(exception.code);
  response.writeHead(status, {
    ...headers,
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Length": body.length,
    "X-ClickHouse-Exception-Code": String(exception.code),
    ...(status === 401 ? { "WWW-Authenticate": 'Basic realm="ClickHouse server HTTP API"' } : {}),
    ...(response.req.complete ? {} : { Connection: "close" }),
  });
  response.end(body);
  response.req.resume();
}

/** The length includes the message and its newline, because clients read the block from its end. */
function exceptionBlock(tag: string, message: string): string {
  const text = message.trimEnd();
  return `\r\n__exception__\r\n${tag}\r\n${text}\n${Buffer.byteLength(text) + 1} ${tag}\r\n__exception__\r\n`;
}

function written(target: Writable, text: string): Promise<void> {
  return new Promise((resolve) => target.write(text, () => resolve()));
}

/** How long a busy client needs at most to read what the kernel has buffered. */
const READ_MS = 50;

/**
 * Waits until the client has most likely read everything that was written. Clients look for the block in the last piece
 * that they read, and a client that is behind would read the block in two pieces. It would still detect a truncated
 * response, but not the reason.
 */
async function untilRead(response: ServerResponse, waiting: () => number): Promise<void> {
  const pause = await drained(response, waiting);
  await pause(READ_MS);
}

/**
 * Cuts the response off when it is completely sent, or the client has taken too long. A client that read the block
 * closes the connection itself. Closing it earlier would take the block from the client.
 */
async function cut(response: ServerResponse, waiting: () => number): Promise<void> {
  const pause = await drained(response, waiting);
  if (response.destroyed || response.socket === null) return;
  await pause(GRACE_MS);
  response.socket?.end();
  response.socket?.destroySoon();
}

/**
 * Waits until `waiting` is 0 bytes, the client disconnects, or it has taken too long. Returns a pause that ends early
 * when the client disconnects.
 */
async function drained(
  response: ServerResponse,
  waiting: () => number,
): Promise<(ms: number) => Promise<void>> {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const pause = (ms: number) => delay(ms, undefined, { signal: closed.signal }).catch(() => undefined);
  const deadline = Date.now() + SLOW_CLIENT_MS;
  while (waiting() > 0 && !response.destroyed && Date.now() < deadline) await pause(20);
  return pause;
}
