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
import { type AttemptOutcome, attempt, type Condenser } from "./attempt.js";
import { shownEndpoint, underBase } from "./base-url.js";
import { openConnections } from "./connections.js";
import {
  authorization,
  CredentialFileError,
  rateLimitKey,
  secretsOf,
  type UpstreamAuth,
} from "./credentials.js";
import { openRateLimit, type Pace } from "./rate-limit.js";
import { excerpt } from "./redact.js";
import {
  backoffMs,
  defaultRetryPolicy,
  isRetriedStatus,
  quotaOf,
  type RetryPolicy,
  requestedWaitOf,
} from "./retry.js";
import { UpstreamError, type UpstreamErrorCode } from "./upstream-error.js";

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
  const defaultHeaders = { accept: "application/json", "user-agent": "chargehouse" };
  const secrets = () => secretsOf(auth);
  const rateLimit = openRateLimit(rateLimitKey(baseUrl, [auth, options.headers ?? {}]), options.pace);

  async function request<T>(request: UpstreamRequest<T>, signal: AbortSignal): Promise<T> {
    const url = underBase(baseUrl, request.path, request.query);
    const endpoint = shownEndpoint(url);
    const limit = Math.max(1, request.attempts ?? policy.attempts);
    const maxBytes = request.maxBytes ?? options.maxBytes ?? 256 * MIB;
    const sendOnce = () =>
      attempt(
        {
          url,
          headers: { ...options.headers, ...defaultHeaders, ...authorization(auth) },
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
        const outcome = await rateLimit.run(sendOnce, signal);
        const quota = outcome.kind === "response" ? quotaOf(outcome.headers, Date.now()) : undefined;
        if (quota !== undefined) rateLimit.learn(quota);
        const verdict = judge(outcome, { decode: request.decode, explain, maxBytes, secrets: secrets() });
        if ("value" in verdict) return verdict.value;
        const { code, reason, status } = verdict;
        if (!verdict.retry || attempts >= limit)
          throw new UpstreamError({ code, endpoint, reason, attempts, status });
        const wait = backoffMs(policy, attempts + 1, verdict.requestedWaitMs);
        if (code === "rate_limited") rateLimit.pause(wait);
        logger.debug(
          { endpoint, code, reason, attempt: attempts, wait_ms: Math.round(wait) },
          "retrying the request to the upstream",
        );
        await delay(wait, undefined, { signal });
      }
    } catch (error) {
      if (error instanceof CredentialFileError)
        throw new UpstreamError({ code: "unauthorized", endpoint, reason: error.message, attempts: 1 });
      if (error instanceof UpstreamError || !signal.aborted) throw error;
      throw new UpstreamError({
        code: "aborted",
        endpoint,
        reason: "the request was cancelled",
        attempts: 1,
      });
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

interface Failed {
  readonly code: UpstreamErrorCode;
  readonly reason: string;
  readonly status?: number;
  readonly retry: boolean;
  readonly requestedWaitMs?: number | undefined;
}

interface Judging<T> {
  readonly decode: (body: Buffer) => T;
  /**
   * Extracts the message from an error's body, if it has the upstream's own format. Otherwise the body itself is
   * quoted.
   */
  readonly explain?: ((body: string) => string | undefined) | undefined;
  readonly maxBytes: number;
  readonly secrets: readonly string[];
}

/** Returns the value of a successful response, or the error and whether a retry may help. */
export function judge<T>(
  outcome: AttemptOutcome,
  { decode, explain, maxBytes, secrets }: Judging<T>,
): { readonly value: T } | Failed {
  if (outcome.kind === "too_large") {
    return { code: "too_large", reason: `the response is larger than ${maxBytes} bytes`, retry: false };
  }
  if (outcome.kind !== "response") return { code: outcome.kind, reason: outcome.reason, retry: true };
  const { status, headers, body } = outcome;
  if (status >= 200 && status < 300) {
    try {
      return { value: decode(body) };
    } catch (error) {
      return decodeFailure(error, secrets);
    }
  }
  if (status >= 300 && status < 400) {
    return {
      code: "redirect_refused",
      status,
      reason: redirectReason(status, headers.location),
      retry: false,
    };
  }
  const text = body.toString("utf8");
  const message = excerpt(explain?.(text) ?? text, secrets);
  return {
    code: status === 429 ? "rate_limited" : status === 401 || status === 403 ? "unauthorized" : "bad_status",
    status,
    reason: `returned ${status}${message === "" ? "" : `: ${message}`}`,
    retry: isRetriedStatus(status),
    requestedWaitMs: status === 429 || status === 503 ? requestedWaitOf(headers, Date.now()) : undefined,
  };
}

/** Thrown by `decode` for an error that is more specific than `bad_body`. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  constructor(
    readonly code: Extract<UpstreamErrorCode, "bad_body" | "partial_response" | "bad_status">,
    message: string,
    readonly retry: boolean,
  ) {
    super(message);
  }
}

function decodeFailure(error: unknown, secrets: readonly string[]): Failed {
  if (error instanceof DecodeError) {
    return { code: error.code, reason: excerpt(error.message, secrets), retry: error.retry };
  }
  return { code: "bad_body", reason: "the response cannot be read", retry: true };
}

function redirectReason(status: number, location: string | undefined): string {
  let target = "another address";
  try {
    if (location !== undefined) target = new URL(location).host;
  } catch {
    target = "another path"; // a relative or unreadable location, which is not worth showing
  }
  return `returned ${status}, a redirect to ${target}, which is not followed: configure the final address`;
}
