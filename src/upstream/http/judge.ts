/** Judges the outcome of an attempt: a value, or a failure with its code. */
import type { AttemptOutcome } from "./attempt.js";
import { excerpt } from "./redact.js";
import { isRetriedStatus, requestedWaitOf } from "./retry.js";
import type { UpstreamErrorCode } from "./upstream-error.js";

export interface Failed {
  readonly code: UpstreamErrorCode;
  readonly reason: string;
  readonly status?: number;
  readonly retry: boolean;
  readonly requestedWaitMs?: number | undefined;
}

export interface Judging<T> {
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
    readonly code: Extract<UpstreamErrorCode, "bad_body" | "partial_answer" | "bad_status">,
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
