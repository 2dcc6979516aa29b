/**
 * The error that every failed request to an upstream ends in: what failed, where, and after how many attempts. Never
 * contains a secret.
 */

export const upstreamErrorCodes = [
  /** No response in time. */
  "timeout",
  /** Status 429 in the last attempt. */
  "rate_limited",
  /** Status 401 or 403: the credentials are wrong or lack a permission. */
  "unauthorized",
  /** Any other status that is not 2xx. */
  "bad_status",
  /** The response is larger than the caller allows. */
  "too_large",
  /** The response does not follow the upstream's protocol. */
  "bad_body",
  /** The upstream itself reports that its response is incomplete. */
  "partial_response",
  /** No connection, or it broke. */
  "unreachable",
  /** A redirect. It is not followed, because the credentials would be sent with it. */
  "redirect_refused",
  /** The caller cancelled the request. */
  "aborted",
] as const;
export type UpstreamErrorCode = (typeof upstreamErrorCodes)[number];

export interface UpstreamErrorFields {
  readonly code: UpstreamErrorCode;
  /** Host and path of the request. No scheme, user or query string. */
  readonly endpoint: string;
  /** What happened, as part of a sentence, already redacted. */
  readonly reason: string;
  readonly attempts: number;
  /** Status of the response, if there was one. */
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

/** True if neither waiting nor a smaller request can help: the upstream as a whole is unusable. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return true;
  if (error.code === "bad_status")
    return error.status === 400 || error.status === 404 || error.status === 405;
  return !["timeout", "bad_body", "partial_response", "too_large"].includes(error.code);
}
