/** Requests to places that hold bills: short answers read whole, files as streams. Redirects are never followed here. */
import { Agent as HttpAgent, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import got, { type PlainResponse, RequestError, TimeoutError } from "got";
import { attempt } from "../../../../upstream-http/attempt.js";
import { shownEndpoint } from "../../../../upstream-http/base-url.js";
import { judge } from "../../../../upstream-http/judge.js";
import { excerpt } from "../../../../upstream-http/redact.js";
import { defaultRetryPolicy, isRetriedStatus, waitMs } from "../../../../upstream-http/retry.js";
import { UpstreamError } from "../../../../upstream-http/upstream-error.js";

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
      const cause = error instanceof RequestError ? error.code : "unknown cause";
      const timeout = error instanceof TimeoutError;
      return {
        failed: true,
        code: timeout ? "timeout" : "unreachable",
        reason: timeout ? "no response in time" : `cannot be reached (${cause})`,
        retry: true,
      };
    }
  });
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
