/**
 * The HTTP client that all ecosystems share: it paces, retries, limits and redacts, so that none of them has to.
 *
 * Every request is taken for a read and repeated when that may help. Redirects are not followed, not even on the same
 * host: an API that redirects was given a wrong base address (often `http` for `https`), and by then the credentials have
 * been sent in the clear; the error says so.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { attempt, type Condenser } from "./attempt.js";
import { shownEndpoint, underBase } from "./base-url.js";
import { openConnections } from "./connections.js";
import { authorization, CredentialFileError, gateKey, secretsOf, type UpstreamAuth } from "./credentials.js";
import { judge } from "./judge.js";
import { openRateLimit, type Pace } from "./rate-limit.js";
import { excerpt } from "./redact.js";
import { defaultRetryPolicy, quotaOf, type RetryPolicy, waitMs } from "./retry.js";
import { UpstreamError } from "./upstream-error.js";

export interface UpstreamClientOptions {
  readonly baseUrl: string;
  readonly auth: UpstreamAuth;
  /** Sent with every request, beside the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly pace: Pace;
  readonly retry?: Partial<RetryPolicy>;
  /** Reads what an error's body says, when the upstream has a form for it. */
  readonly explain?: (body: string) => string | undefined;
  /** Name lookup, connection and TLS, together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** One attempt from its start to the last byte. Default 120,000. */
  readonly attemptTimeoutMs?: number;
  /** Size of an answer, after decompression. Default 256 MiB. */
  readonly maxBytes?: number;
}

export interface UpstreamRequest<T> {
  readonly method: "GET" | "POST";
  /** Appended to the base address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** Attempts in all, when other than the client's. */
  readonly attempts?: number;
  readonly maxBytes?: number;
  /** Reads the answer. What it throws makes the answer a `bad_body`, which is worth another attempt. */
  decode(body: Buffer): T;
  /** What `decode` gets of a good answer in place of its body. */
  condense?(): Condenser;
}

export interface UpstreamClient {
  request<T>(request: UpstreamRequest<T>, signal: AbortSignal): Promise<T>;
  /** Text of the upstream, for logs: short and without this client's secrets. */
  shown(text: string): string;
  close(): void;
}

const MIB = 1_048_576;

export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { baseUrl, auth, logger, explain } = options;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const connections = openConnections(options.connectTimeoutMs);
  const own = { accept: "application/json", "user-agent": "chargehouse" };
  const secrets = () => secretsOf(auth);
  const gate = openRateLimit(gateKey(baseUrl, [auth, options.headers ?? {}]), options.pace);

  async function request<T>(request: UpstreamRequest<T>, signal: AbortSignal): Promise<T> {
    const url = underBase(baseUrl, request.path, request.query);
    const endpoint = shownEndpoint(url);
    const limit = Math.max(1, request.attempts ?? policy.attempts);
    const maxBytes = request.maxBytes ?? options.maxBytes ?? 256 * MIB;
    const once = () =>
      attempt(
        {
          url,
          headers: { ...options.headers, ...own, ...authorization(auth) },
          connections,
          maxBytes,
          condense: request.condense,
          method: request.method,
          form: request.form,
          timeoutMs: options.attemptTimeoutMs ?? 120_000,
        },
        signal,
      );
    try {
      for (let attempts = 1; ; attempts += 1) {
        const outcome = await gate.run(once, signal);
        const quota = outcome.kind === "answer" ? quotaOf(outcome.headers, Date.now()) : undefined;
        if (quota !== undefined) gate.learn(quota);
        const judged = judge(outcome, { decode: request.decode, explain, maxBytes, secrets: secrets() });
        if ("value" in judged) return judged.value;
        const { code, reason, status } = judged;
        if (!judged.retry || attempts >= limit)
          throw new UpstreamError({ code, endpoint, reason, attempts, status });
        const wait = waitMs(policy, attempts + 1, judged.askedMs);
        if (code === "rate_limited") gate.pause(wait);
        logger.debug(
          { endpoint, code, reason, attempt: attempts, wait_ms: Math.round(wait) },
          "asking the upstream again",
        );
        await delay(wait, undefined, { signal });
      }
    } catch (error) {
      if (error instanceof CredentialFileError)
        throw new UpstreamError({ code: "unauthorized", endpoint, reason: error.message, attempts: 1 });
      if (error instanceof UpstreamError || !signal.aborted) throw error;
      throw new UpstreamError({ code: "aborted", endpoint, reason: "the request was given up", attempts: 1 });
    }
  }

  return {
    request,
    shown: (text) => excerpt(text, secrets()),
    close: () => {
      gate.release();
      void connections.destroy();
    },
  };
}
