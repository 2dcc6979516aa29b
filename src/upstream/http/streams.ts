/**
 * Requests to servers that store files. Short responses are read completely, and files are streamed, in both
 * directions. Redirects are never followed.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { request as send } from "undici";
import { attempt, startOf } from "./attempt.js";
import { shownEndpoint } from "./base-url.js";
import { judge } from "./client.js";
import { type Connections, noResponse } from "./connections.js";
import { excerpt } from "./redact.js";
import { backoffMs, defaultRetryPolicy, isRetriedStatus } from "./retry.js";
import { UpstreamError } from "./upstream-error.js";

export interface HttpEndpoint {
  readonly connections: Connections;
  /** Maximum attempts. */
  readonly attempts: number;
  /** Wait before the second attempt. It doubles with each further one. */
  readonly baseDelayMs: number;
  /** Extracts the message from an error's body, if the service has a format for it. */
  readonly explain?: (body: string, headers: IncomingHttpHeaders) => string | undefined;
  /** Texts that must not be shown. */
  secrets(): readonly string[];
}

/** Returns the headers of a request. Called for each attempt, because a signature is valid for minutes. */
export type HeadersFor = (url: URL) => Promise<Readonly<Record<string, string>>>;

export interface OpenedStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** An upload that makes no progress for this long has failed. */
const STALLED_MS = 120_000;

/** Returns the whole body of a 2xx response. Throws `UpstreamError`. */
export async function readWhole(
  server: HttpEndpoint,
  url: URL,
  headersFor: HeadersFor,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  return await withRetries(server, url, signal, async () => {
    const outcome = await attempt(
      {
        url,
        method: "GET",
        headers: { "user-agent": "chargehouse", ...(await headersFor(url)) },
        connections: server.connections,
        timeoutMs: 60_000,
        maxBytes,
      },
      signal,
    );
    const headers = outcome.kind === "response" ? outcome.headers : {};
    const explain = (body: string) => server.explain?.(body, headers);
    if (outcome.kind === "response" && outcome.status >= 300 && outcome.status < 400) {
      const message = explain(outcome.body.toString("utf8"));
      if (message !== undefined)
        return { failed: true, ...refused(outcome.status, message, server), retry: false };
    }
    const judged = judge(outcome, { decode: (body) => body, explain, maxBytes, secrets: server.secrets() });
    return "value" in judged ? judged : { ...judged, failed: true as const };
  });
}

type Once<T> =
  | { readonly value: T }
  | {
      readonly failed: true;
      readonly code: UpstreamError["code"];
      readonly reason: string;
      readonly retry: boolean;
      readonly status?: number | undefined;
      readonly requestedWaitMs?: number | undefined;
    };

async function withRetries<T>(
  server: HttpEndpoint,
  url: URL,
  signal: AbortSignal,
  once: () => Promise<Once<T>>,
): Promise<T> {
  const policy = { ...defaultRetryPolicy, baseDelayMs: server.baseDelayMs };
  for (let attempts = 1; ; attempts += 1) {
    signal.throwIfAborted();
    const outcome = await once();
    if ("value" in outcome) return outcome.value;
    const { code, reason, status } = outcome;
    if (!outcome.retry || attempts >= server.attempts)
      throw new UpstreamError({ code, endpoint: shownEndpoint(url), reason, attempts, status });
    await delay(backoffMs(policy, attempts + 1, outcome.requestedWaitMs), undefined, { signal });
  }
}

export interface SentBody {
  readonly method: "PUT" | "DELETE";
  /** Called for each attempt. Undefined: no body. */
  readonly body?: (() => Readable) | undefined;
  /** Length of the body in bytes. */
  readonly length: number;
}

/**
 * Sends a body, and ignores the body of a successful response. Retried until it is accepted. Statuses that are not
 * `accepted` are errors.
 */
export async function sendStream(
  server: HttpEndpoint,
  url: URL,
  { method, body, length }: SentBody,
  headersFor: HeadersFor,
  accepted: (status: number) => boolean,
  signal: AbortSignal,
): Promise<void> {
  await withRetries(server, url, signal, async (): Promise<Once<true>> => {
    const headers = await headersFor(url);
    try {
      const {
        statusCode: status,
        headers: received,
        body: response,
      } = await send(url, {
        method,
        headers: { "user-agent": "chargehouse", "content-length": String(length), ...headers },
        body: body?.() ?? null,
        dispatcher: server.connections,
        signal,
        // Both are measured from the last byte that was sent or received.
        headersTimeout: STALLED_MS,
        bodyTimeout: STALLED_MS,
      });
      if (accepted(status)) {
        await response.dump();
        return { value: true };
      }
      const message = server.explain?.(await text(startOf(response)), received);
      return { failed: true, ...refused(status, message, server), retry: isRetriedStatus(status) };
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(error);
    }
  });
}

/**
 * Opens a GET whose body is a stream, exactly as the server sends it: it is not decompressed. Returns responses with
 * `accepted` statuses. Others are errors. Retried until a response begins. If the body breaks later, the reader has to
 * repeat the request.
 */
export async function openStream(
  server: HttpEndpoint,
  url: URL,
  headersFor: HeadersFor,
  accepted: (status: number) => boolean,
  signal: AbortSignal,
): Promise<OpenedStream> {
  return await withRetries(server, url, signal, async (): Promise<Once<OpenedStream>> => {
    const headers = await headersFor(url);
    try {
      const {
        statusCode: status,
        headers: received,
        body,
      } = await send(url, {
        headers: { "user-agent": "chargehouse", "accept-encoding": "identity", ...headers },
        dispatcher: server.connections,
        signal,
        // The body has no time limit as long as it makes progress. Its reader may be slow for a while.
        headersTimeout: 60_000,
        bodyTimeout: 600_000,
      });
      body.on("error", () => {}); // the reader receives it
      if (accepted(status)) return { value: { status, headers: received, body } };
      const message = server.explain?.(await text(startOf(body)), received);
      return { failed: true, ...refused(status, message, server), retry: isRetriedStatus(status) };
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(error);
    }
  });
}

function unreachable(error: unknown) {
  const { kind: code, reason } = noResponse(error);
  return { failed: true as const, code, reason, retry: true };
}

function refused(status: number, message: string | undefined, server: HttpEndpoint) {
  const reason = `returned ${status}${message === undefined ? "" : `: ${excerpt(message, server.secrets())}`}`;
  return {
    status,
    reason,
    code: status === 401 || status === 403 ? ("unauthorized" as const) : ("bad_status" as const),
  };
}
