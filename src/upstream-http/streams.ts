/** Requests to places that hold files: short answers read whole, files as streams, both ways. Redirects are never followed here. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { request as send } from "undici";
import { attempt, startOf } from "./attempt.js";
import { shownEndpoint } from "./base-url.js";
import { type Connections, noResponse } from "./connections.js";
import { judge } from "./judge.js";
import { excerpt } from "./redact.js";
import { defaultRetryPolicy, isRetriedStatus, waitMs } from "./retry.js";
import { UpstreamError } from "./upstream-error.js";

export interface HttpPlace {
  readonly connections: Connections;
  /** Attempts in all. */
  readonly attempts: number;
  /** Wait before the second attempt, which then doubles. */
  readonly baseDelayMs: number;
  /** Reads what the body of an error says, when the service has a form for it. */
  readonly explain?: (body: string, headers: IncomingHttpHeaders) => string | undefined;
  /** Texts that must not be shown. */
  secrets(): readonly string[];
}

/** Headers are asked for anew at each attempt: a signature holds for minutes. */
export type HeadersFor = (url: URL) => Promise<Readonly<Record<string, string>>>;

export interface Opened {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** An upload that nothing was taken of for so long has failed. */
const STALLED_MS = 120_000;

/** The whole body of a 2xx answer. Throws UpstreamError. */
export async function readWhole(
  place: HttpPlace,
  url: URL,
  headersFor: HeadersFor,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  return await repeated(place, url, signal, async () => {
    const outcome = await attempt(
      {
        url,
        method: "GET",
        headers: { "user-agent": "chargehouse", ...(await headersFor(url)) },
        connections: place.connections,
        timeoutMs: 60_000,
        maxBytes,
      },
      signal,
    );
    const headers = outcome.kind === "answer" ? outcome.headers : {};
    const explain = (body: string) => place.explain?.(body, headers);
    if (outcome.kind === "answer" && outcome.status >= 300 && outcome.status < 400) {
      const said = explain(outcome.body.toString("utf8"));
      if (said !== undefined) return { failed: true, ...refused(outcome.status, said, place), retry: false };
    }
    const judged = judge(outcome, { decode: (body) => body, explain, maxBytes, secrets: place.secrets() });
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
      readonly askedMs?: number | undefined;
    };

async function repeated<T>(
  place: HttpPlace,
  url: URL,
  signal: AbortSignal,
  once: () => Promise<Once<T>>,
): Promise<T> {
  const policy = { ...defaultRetryPolicy, baseDelayMs: place.baseDelayMs };
  for (let attempts = 1; ; attempts += 1) {
    signal.throwIfAborted();
    const outcome = await once();
    if ("value" in outcome) return outcome.value;
    const { code, reason, status } = outcome;
    if (!outcome.retry || attempts >= place.attempts)
      throw new UpstreamError({ code, endpoint: shownEndpoint(url), reason, attempts, status });
    await delay(waitMs(policy, attempts + 1, outcome.askedMs), undefined, { signal });
  }
}

export interface Sent {
  readonly method: "PUT" | "DELETE";
  /** Opened anew for each attempt; undefined for none. */
  readonly body?: (() => Readable) | undefined;
  /** Bytes of the body. */
  readonly length: number;
}

/** Sends a body, and reads nothing of a good answer. Repeated until it was taken; statuses that are not `accepted` are errors. */
export async function sendStream(
  place: HttpPlace,
  url: URL,
  { method, body, length }: Sent,
  headersFor: HeadersFor,
  accepted: (status: number) => boolean,
  signal: AbortSignal,
): Promise<void> {
  await repeated(place, url, signal, async (): Promise<Once<true>> => {
    const headers = await headersFor(url);
    try {
      const {
        statusCode: status,
        headers: received,
        body: answer,
      } = await send(url, {
        method,
        headers: { "user-agent": "chargehouse", "content-length": String(length), ...headers },
        body: body?.() ?? null,
        dispatcher: place.connections,
        signal,
        // Each since the last byte that was sent or came.
        headersTimeout: STALLED_MS,
        bodyTimeout: STALLED_MS,
      });
      if (accepted(status)) {
        await answer.dump();
        return { value: true };
      }
      const said = place.explain?.(await text(startOf(answer)), received);
      return { failed: true, ...refused(status, said, place), retry: isRetriedStatus(status) };
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(error);
    }
  });
}

/**
 * A GET whose body is a stream, as the server has it: nothing is unpacked. Statuses of `accepted` are returned, others are errors.
 * Repeated until an answer begins; a body that breaks is the reader's to ask for again.
 */
export async function openStream(
  place: HttpPlace,
  url: URL,
  headersFor: HeadersFor,
  accepted: (status: number) => boolean,
  signal: AbortSignal,
): Promise<Opened> {
  return await repeated(place, url, signal, async (): Promise<Once<Opened>> => {
    const headers = await headersFor(url);
    try {
      const {
        statusCode: status,
        headers: received,
        body,
      } = await send(url, {
        headers: { "user-agent": "chargehouse", "accept-encoding": "identity", ...headers },
        dispatcher: place.connections,
        signal,
        // Of the body there is no limit but that it must not stand still; whoever reads it may be slow for a while.
        headersTimeout: 60_000,
        bodyTimeout: 600_000,
      });
      body.on("error", () => {}); // told to whoever reads
      if (accepted(status)) return { value: { status, headers: received, body } };
      const said = place.explain?.(await text(startOf(body)), received);
      return { failed: true, ...refused(status, said, place), retry: isRetriedStatus(status) };
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

function refused(status: number, said: string | undefined, place: HttpPlace) {
  const reason = `returned ${status}${said === undefined ? "" : `: ${excerpt(said, place.secrets())}`}`;
  return {
    status,
    reason,
    code: status === 401 || status === 403 ? ("unauthorized" as const) : ("bad_status" as const),
  };
}
