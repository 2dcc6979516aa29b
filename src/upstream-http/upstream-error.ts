/** The one error that talking to an upstream ends in: what failed, where, and how often it was tried. Never a secret. */

export const upstreamErrorCodes = [
  /** No answer in time. */
  "timeout",
  /** 429 to the last attempt. */
  "rate_limited",
  /** 401 or 403: the credentials are wrong or may not do this. */
  "unauthorized",
  /** Any other status that is not 2xx. */
  "bad_status",
  /** The answer is larger than the caller takes. */
  "too_large",
  /** The answer is not what the upstream's protocol says. */
  "bad_body",
  /** The upstream says itself that something is missing from its answer. */
  "partial_answer",
  /** No connection, or it broke. */
  "unreachable",
  /** A redirect: followed nowhere, because the credentials would travel with it. */
  "redirect_refused",
  /** The caller gave up. */
  "aborted",
] as const;
export type UpstreamErrorCode = (typeof upstreamErrorCodes)[number];

export interface UpstreamErrorFields {
  readonly code: UpstreamErrorCode;
  /** Host and path of the request; no scheme, no user, no query string. */
  readonly endpoint: string;
  /** What happened, as a part of a sentence, already redacted. */
  readonly reason: string;
  readonly attempts: number;
  /** Status of the answer, when there was one. */
  readonly status?: number | undefined;
}

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly code: UpstreamErrorCode;
  readonly endpoint: string;
  readonly attempts: number;
  readonly status: number | undefined;

  constructor({ code, endpoint, reason, attempts, status }: UpstreamErrorFields) {
    const tries = attempts > 1 ? ` (after ${attempts} attempts)` : "";
    super(`${endpoint}: ${reason}${tries}`);
    this.code = code;
    this.endpoint = endpoint;
    this.attempts = attempts;
    this.status = status;
  }
}

/** True when waiting or asking again for less cannot help: the upstream as a whole cannot be talked to. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return true;
  if (error.code === "bad_status")
    return error.status === 400 || error.status === 404 || error.status === 405;
  return !["timeout", "bad_body", "partial_answer", "too_large"].includes(error.code);
}
