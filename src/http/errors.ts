/** All errors of the API in one table, from which the error responses and their documentation are made. */

export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** Cause of the error, a clause for the documentation. */
  readonly when: string;
}

/** Errors by `code`. Codes are stable: programs may rely on them. */
export const errorTable = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    when: "a parameter or a field of the body is not valid",
  },
  invalid_cursor: {
    status: 400,
    title: "Invalid cursor",
    when: "the cursor is not the next_cursor of a response to the same query",
  },
  malformed_body: {
    status: 400,
    title: "Malformed body",
    when: "the body is not JSON, or not sent as application/json",
  },
  tokens_not_used: {
    status: 400,
    title: "Tokens not used",
    when: "api.auth is none",
  },
  session_needs_token: {
    status: 400,
    title: "Session needs a token",
    when: "the request is not authenticated by a token in `Authorization`",
  },
  session_not_found: {
    status: 404,
    title: "Session not found",
    when: "there is no session with this id, or it has ended",
  },
  token_not_found: { status: 404, title: "Token not found", when: "there is no token with this id" },
  pipeline_unavailable: {
    status: 400,
    title: "No workflow runner",
    when: "the service runs in a mode without a pipeline",
  },
  unauthenticated: {
    status: 401,
    title: "Not authenticated",
    when: "the request has no credentials, or they are not valid or no longer valid",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    when: "the credentials do not allow the operation",
  },
  too_many_requests: {
    status: 429,
    title: "Too many requests",
    when: "the caller sent more requests in a minute than api.rate_limit.max_per_minute",
  },
  too_many_failed_sign_ons: {
    status: 429,
    title: "Too many failed sign-ons",
    when: "the address sent more invalid credentials in a minute than api.rate_limit.max_failed_sign_ons_per_minute",
  },
  cross_site_request: {
    status: 403,
    title: "Cross-site request",
    when: "a browser sent a request that may change something, for a page whose origin api.cors_origins does not list",
  },
  host_not_allowed: {
    status: 421,
    title: "Host not allowed",
    when: "`Host` is not a name of this service: not the address it listens on, not loopback, and not in api.allowed_hosts",
  },
  tenant_not_found: { status: 404, title: "Tenant not found", when: "no tenant of this name is configured" },
  dimension_not_found: {
    status: 404,
    title: "Dimension not found",
    when: "the tenant has no chargeback dimension of this id",
  },
  row_not_found: {
    status: 404,
    title: "Row not found",
    when: "the dimension has no such chargeback row on the day, or the day is not published",
  },
  resource_not_found: {
    status: 404,
    title: "Resource not found",
    when: "no gathering of the tenant ever found a resource with this id",
  },
  identity_not_found: {
    status: 404,
    title: "Identity not found",
    when: "no gathering of the tenant ever found an identity with this id",
  },
  tag_not_found: {
    status: 404,
    title: "Tag not found",
    when: "the tenant, or the dimension, has no such tag",
  },
  assignment_not_found: {
    status: 404,
    title: "Assignment not found",
    when: "the tenant has no assignment with this id",
  },
  accepted_cause_not_found: {
    status: 404,
    title: "Accepted cause not found",
    when: "the tenant has no accepted cause with this id",
  },
  run_not_found: { status: 404, title: "Run not found", when: "the tenant has no run with this id" },
  delivery_not_found: {
    status: 404,
    title: "Delivery not found",
    when: "the tenant has no delivery with this id",
  },
  emitter_not_found: {
    status: 404,
    title: "Emitter not found",
    when: "the tenant has no emitter of type prometheus",
  },
  path_not_found: { status: 404, title: "Path not found", when: "the API has no such path" },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    when: "the path does not support this method",
  },
  unreadable_request: { status: 400, title: "Unreadable request", when: "the request is not valid HTTP" },
  request_incomplete: {
    status: 408,
    title: "Request incomplete",
    when: "the request did not arrive completely in time",
  },
  headers_too_large: {
    status: 431,
    title: "Headers too large",
    when: "path and headers together are longer than 16 KiB",
  },
  not_acceptable: {
    status: 406,
    title: "Not acceptable",
    when: "the operation offers no media type that `Accept` allows",
  },
  run_in_progress: {
    status: 409,
    title: "Run in progress",
    when: "the tenant already has a run in progress",
  },
  delivery_not_waiting: {
    status: 409,
    title: "Delivery not waiting",
    when: "the delivery is not waiting for acceptance; nothing was changed",
  },
  tag_key_exists: {
    status: 409,
    title: "Tag key exists",
    when: "the dimension already has a tag with this key; nothing was changed",
  },
  assignments_overlap: {
    status: 409,
    title: "Assignments overlap",
    when: "a resource would belong to two identities on one day; nothing was changed",
  },
  too_many_accepted_causes: {
    status: 409,
    title: "Too many accepted causes",
    when: "the tenant has 100 accepted causes; nothing was changed",
  },
  tenant_suspended: {
    status: 409,
    title: "Tenant suspended",
    when: "the tenant is permanently failed; restart the service once the cause is fixed",
  },
  usage_not_taken: {
    status: 400,
    title: "Usage not taken",
    when: "the configuration of the tenant names no metrics for uploads (usage.uploads.metrics)",
  },
  assignments_not_read: {
    status: 400,
    title: "Assignments not read",
    when: "the identity sources of the tenant (allocation.identity) are without `assigned: resource_id`",
  },
  idempotency_key_reused: {
    status: 409,
    title: "Idempotency key reused",
    when: "`Idempotency-Key` was already used with another body; nothing was changed",
  },
  body_too_large: {
    status: 413,
    title: "Body too large",
    when: "the body is longer than its route allows (64 KiB; 1 MiB for filters, lists of ids and lists of tags; usage.uploads.max_mib for usage), or has more than 25,000 values",
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    when: "the service failed; its log has the cause under error_id",
  },
  too_busy: {
    status: 503,
    title: "Too busy",
    when: "the limit on heavy reads was reached, and no slot became free in time; light reads are not affected",
  },
  store_unavailable: {
    status: 503,
    title: "Store unavailable",
    when: "the store of the data is unreachable, or does not work, for example because its disk is full; the log of the service has the cause under error_id",
  },
  request_timeout: {
    status: 504,
    title: "Request timeout",
    when: "the response took longer than api.request_timeout_seconds; its query was cancelled, and nothing was changed",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorTable;

/** One problem with a request. */
export interface InputProblem {
  readonly in: "query" | "path" | "header" | "body";
  /**
   * Name of the parameter, path of the field in the body (`filters.cost_type`), or row and column of CSV; empty for the
   * body as a whole.
   */
  readonly name: string;
  /** A sentence with the allowed values. */
  readonly detail: string;
  readonly code: "unknown" | "invalid" | "repeated" | "missing";
}

/** An error response from `errorTable`, as an exception. `detail` is sent to the client. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** A property instead of a getter, because Fastify writes to it. */
  readonly statusCode: number;
  constructor(
    readonly code: ErrorCode,
    detail: string,
    readonly problems: readonly InputProblem[] = [],
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.statusCode = errorTable[code].status;
  }
}

/** Maximum number of problems in a response, so that the response is not longer than its request. */
export const MOST_PROBLEMS = 20;

export function invalidRequest(problems: readonly InputProblem[]): ApiError {
  const listed = problems.slice(0, MOST_PROBLEMS);
  const sentences = listed.map(({ detail }) => detail);
  if (problems.length > listed.length) sentences.push("The request has more problems.");
  return new ApiError("invalid_request", sentences.join(" "), listed);
}

/** The queue of heavy reads is full, or a read waited in it for too long. */
export class TooBusyError extends Error {
  override readonly name = "TooBusyError";
}
