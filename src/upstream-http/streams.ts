/** Requests to places that hold files: short answers read whole, files as streams, both ways. Redirects are never followed here. */
import { Agent as HttpAgent, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import got, { type PlainResponse, RequestError, TimeoutError } from "got";
import { attempt } from "./attempt.js";
import { shownEndpoint } from "./base-url.js";
import { judge } from "./judge.js";
import { excerpt } from "./redact.js";
import { defaultRetryPolicy, isRetriedStatus, waitMs } from "./retry.js";
import { UpstreamError } from "./upstream-error.js";

export interface HttpPlace {
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
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

const CONNECT_MS = 10_000;
const LONGEST_ERROR_BYTES = 65_536;

export function httpAgents(): HttpPlace["agents"] {
  return { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
}

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
        form: undefined,
        condense: undefined,
        agents: place.agents,
        connectTimeoutMs: CONNECT_MS,
        attemptTimeoutMs: 60_000,
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
      const response = await got(url, {
        method,
        headers: { "user-agent": "chargehouse", "content-length": String(length), ...headers },
        ...(body === undefined ? {} : { body: body() }),
        agent: place.agents,
        signal,
        timeout: { lookup: CONNECT_MS, connect: CONNECT_MS, secureConnect: CONNECT_MS, socket: 120_000 },
        retry: { limit: 0 },
        followRedirect: false,
        throwHttpErrors: false,
        responseType: "text",
      });
      const { statusCode: status } = response;
      if (accepted(status)) return { value: true };
      const said = place.explain?.(response.body.slice(0, LONGEST_ERROR_BYTES), response.headers);
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
    const stream = got.stream(url, {
      headers: { "user-agent": "chargehouse", "accept-encoding": "identity", ...headers },
      agent: place.agents,
      signal,
      // Of the body there is no limit but that it must not stand still; whoever reads it may be slow for a while.
      timeout: {
        lookup: CONNECT_MS,
        connect: CONNECT_MS,
        secureConnect: CONNECT_MS,
        response: 60_000,
        socket: 600_000,
      },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
    });
    stream.on("error", () => {}); // told to whoever reads; before that, below
    try {
      const response = await new Promise<PlainResponse>((resolve, reject) => {
        stream.once("response", resolve);
        stream.once("error", reject);
      });
      const { statusCode: status, headers: received } = response;
      if (accepted(status)) return { value: { status, headers: received, body: stream } };
      const said = place.explain?.(await start(stream), received);
      stream.destroy();
      return {
        failed: true,
        ...refused(status, said, place),
        retry: isRetriedStatus(status),
      };
    } catch (error) {
      stream.destroy();
      signal.throwIfAborted();
      return unreachable(error);
    }
  });
}

function unreachable(error: unknown) {
  const cause = error instanceof RequestError ? error.code : "unknown cause";
  const timeout = error instanceof TimeoutError;
  return {
    failed: true as const,
    code: timeout ? ("timeout" as const) : ("unreachable" as const),
    reason: timeout ? "no response in time" : `cannot be reached (${cause})`,
    retry: true,
  };
}

function refused(status: number, said: string | undefined, place: HttpPlace) {
  const reason = `returned ${status}${said === undefined ? "" : `: ${excerpt(said, place.secrets())}`}`;
  return {
    status,
    reason,
    code: status === 401 || status === 403 ? ("unauthorized" as const) : ("bad_status" as const),
  };
}

async function start(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LONGEST_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
