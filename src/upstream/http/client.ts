/**
 * The HTTP client of all ecosystems. It does the rate limiting, retries, size limits and redaction, so that none of
 * them has to.
 *
 * Every request is considered a read, and repeated if that may help. Redirects are not followed, not even on the same
 * host: a redirect means that the base URL is wrong (often `http` for `https`), and by then the credentials have been
 * sent in the clear. The error says so.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { attempt, type Condenser } from "./attempt.js";
import { shownEndpoint, underBase } from "./base-url.js";
import { openConnections } from "./connections.js";
import {
  authorization,
  CredentialFileError,
  rateLimitKey,
  secretsOf,
  type UpstreamAuth,
} from "./credentials.js";
import { judge } from "./judge.js";
import { openRateLimit, type Pace } from "./rate-limit.js";
import { excerpt } from "./redact.js";
import { defaultRetryPolicy, quotaOf, type RetryPolicy, waitMs } from "./retry.js";
import { UpstreamError } from "./upstream-error.js";

export interface UpstreamClientOptions {
  readonly baseUrl: string;
  readonly auth: UpstreamAuth;
  /** Sent with every request, in addition to the client's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly pace: Pace;
  readonly retry?: Partial<RetryPolicy>;
  /** Extracts the message from an error's body, if the upstream has a format for it. */
  readonly explain?: (body: string) => string | undefined;
  /** Timeout for name lookup, connection and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Timeout for one attempt, from its start to the last byte. Default 120,000. */
  readonly attemptTimeoutMs?: number;
  /** Maximum size of a response after decompression. Default 256 MiB. */
  readonly maxBytes?: number;
}

export interface UpstreamRequest<T> {
  readonly method: "GET" | "POST";
  /** Appended to the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** Maximum attempts, if different from the client's. */
  readonly attempts?: number;
  readonly maxBytes?: number;
  /** Parses the response. If it throws, the error is `bad_body`, which is retried. */
  decode(body: Buffer): T;
  /** Condenses a successful response. `decode` gets the result instead of the body. */
  condense?(): Condenser;
}

export interface UpstreamClient {
  request<T>(request: UpstreamRequest<T>, signal: AbortSignal): Promise<T>;
  /** Returns a text of the upstream for logs: short, and without this client's secrets. */
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
  const rateLimit = openRateLimit(rateLimitKey(baseUrl, [auth, options.headers ?? {}]), options.pace);

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
        const outcome = await rateLimit.run(once, signal);
        const quota = outcome.kind === "response" ? quotaOf(outcome.headers, Date.now()) : undefined;
        if (quota !== undefined) rateLimit.learn(quota);
        const judged = judge(outcome, { decode: request.decode, explain, maxBytes, secrets: secrets() });
        if ("value" in judged) return judged.value;
        const { code, reason, status } = judged;
        if (!judged.retry || attempts >= limit)
          throw new UpstreamError({ code, endpoint, reason, attempts, status });
        const wait = waitMs(policy, attempts + 1, judged.requestedWaitMs);
        if (code === "rate_limited") rateLimit.pause(wait);
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
      rateLimit.release();
      void connections.destroy();
    },
  };
}
