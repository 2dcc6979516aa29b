/** Converts exceptions into error responses: `application/problem+json` of RFC 9457. */
import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  AcceptedCauseNotFoundError,
  AssignmentEndError,
  AssignmentNotFoundError,
  AssignmentOverlapError,
  type Overlap,
  TooManyAcceptedCausesError,
} from "../assignments/errors.js";
import type { AssignedPeriod } from "../domain/assignment.js";
import { MOST_ACCEPTED_CAUSES } from "../domain/issue-cause.js";
import { InvalidCursorError } from "../query/page/cursor.js";
import { InvalidParameterError } from "../query/time/date-window.js";
import { RunInProgressError, TenantSuspendedError } from "../runner/control.js";
import { isStoreFault, storeInTrouble } from "../stores/store-trouble.js";
import { DimensionNotFoundError, TagKeyTakenError, TagNotFoundError } from "../tags/tag-errors.js";
import {
  ApiError,
  type ErrorCode,
  errorTable,
  type InputProblem,
  invalidRequest,
  TooBusyError,
} from "./errors.js";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly InputProblem[];
  readonly error_id?: string;
}

export const PROBLEM_TYPE = "application/problem+json";

/** An internal error gets an `error_id`; the log has its cause under the same id. */
export function problemOf(error: ApiError): Problem {
  const { status, title } = errorTable[error.code];
  const problem = { type: "about:blank", title, status, detail: error.message, code: error.code };
  if (error.problems.length > 0) return { ...problem, errors: error.problems };
  const isByDesign = error.code === "too_busy" || error.code === "request_timeout";
  return status >= 500 && !isByDesign ? { ...problem, error_id: randomUUID() } : problem;
}

/** `Retry-After` in seconds, for temporary errors. */
const retryAfter: Partial<Record<ErrorCode, number>> = { store_unavailable: 5, too_busy: 5 };

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const apiError = pageError(error, request.url) ?? toApiError(error, request);
  const problem = problemOf(apiError);
  if (problem.error_id !== undefined) {
    const { method, url } = request;
    request.log.error(
      { err: apiError.cause ?? error, error_id: problem.error_id, method, path: problemPath(url) },
      "request failed",
    );
  }
  const seconds = retryAfter[apiError.code];
  if (seconds !== undefined) reply.header("retry-after", String(seconds));
  return reply.code(problem.status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problem);
}

/** Removes the query, which may contain values that must not be logged. */
export function problemPath(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

type RoutedRequest = Pick<FastifyRequest, "method" | "routeOptions">;

export function toApiError(error: unknown, { method, routeOptions }: RoutedRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof InvalidCursorError) return new ApiError("invalid_cursor", error.message);
  if (error instanceof InvalidParameterError) {
    const where = method === "POST" ? "body" : "query";
    return invalidRequest([{ in: where, name: error.parameter, detail: error.message, code: "invalid" }]);
  }
  if (error instanceof RunInProgressError) {
    return new ApiError(
      "run_in_progress",
      `A pipeline run of tenant ${error.tenantName} is already running.`,
    );
  }
  if (error instanceof TenantSuspendedError) {
    return new ApiError(
      "tenant_suspended",
      `Tenant ${error.tenantName} is permanently suspended: ${error.cause}. Restart the service once the cause is fixed.`,
    );
  }
  if (error instanceof TooBusyError) {
    const detail =
      "Too many heavy reads are running (api.max_heavy_reads, api.max_waiting_reads). Try again in a few seconds.";
    return new ApiError("too_busy", detail);
  }
  return (
    tagError(error) ??
    assignmentError(error) ??
    frameworkError(error, routeOptions.bodyLimit) ??
    unexpected(error)
  );
}

function tagError(error: unknown): ApiError | undefined {
  if (error instanceof DimensionNotFoundError) {
    return new ApiError("dimension_not_found", `Chargeback dimension ${error.dimensionId} not found.`);
  }
  if (error instanceof TagNotFoundError) {
    const where = error.dimensionId === undefined ? "" : ` on chargeback dimension ${error.dimensionId}`;
    return new ApiError("tag_not_found", `Tag ${error.tagId} not found${where}.`);
  }
  if (error instanceof TagKeyTakenError) {
    const detail = `Chargeback dimension ${error.dimensionId} has a tag with the key "${error.tagKey}". Nothing was changed.`;
    return new ApiError("tag_key_exists", detail);
  }
  return undefined;
}

/** Longer lists of overlaps are cut. */
const MOST_OVERLAPS = 5;

function assignmentError(error: unknown): ApiError | undefined {
  if (error instanceof AssignmentNotFoundError)
    return new ApiError("assignment_not_found", `Assignment ${error.assignmentId} not found.`);
  if (error instanceof AssignmentEndError) {
    const detail = `\`valid_to\` must be ${error.validFrom} or later: the assignment begins on that day.`;
    return invalidRequest([{ in: "body", name: "valid_to", detail, code: "invalid" }]);
  }
  if (error instanceof AssignmentOverlapError) {
    const { overlaps } = error;
    const more = overlaps.length - MOST_OVERLAPS;
    const sentences = [
      ...overlaps.slice(0, MOST_OVERLAPS).map(overlapText),
      ...(more > 0 ? [`${more} more overlap.`] : []),
      "Nothing was changed: end the existing assignment on the day before, or choose other days.",
    ];
    return new ApiError("assignments_overlap", sentences.join(" "));
  }
  if (error instanceof AcceptedCauseNotFoundError)
    return new ApiError("accepted_cause_not_found", `Accepted cause ${error.acceptedCauseId} not found.`);
  if (error instanceof TooManyAcceptedCausesError) {
    const detail = `The tenant has ${MOST_ACCEPTED_CAUSES} accepted causes, also counting those whose day has passed. Take back one of them first.`;
    return new ApiError("too_many_accepted_causes", detail);
  }
  return undefined;
}

function overlapText({ assignment_id, existing, wanted }: Overlap): string {
  const { resource_id } = wanted;
  return `Resource "${resource_id}" belongs to ${periodText(existing)} (assignment ${assignment_id}), and would belong to ${periodText(wanted)}.`;
}

function periodText({ identity_id, valid_from, valid_to }: AssignedPeriod): string {
  return `"${identity_id}" from ${valid_from}${valid_to === null ? " without end" : ` to ${valid_to}`}`;
}

/** Converts errors of the static files under /docs, such as an unknown path or a range that the file does not have. */
function pageError(error: unknown, url: string): ApiError | undefined {
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (error instanceof ApiError || !url.startsWith("/docs") || status < 400 || status >= 500)
    return undefined;
  return status <= 404
    ? new ApiError("path_not_found", "There is no such page or file.")
    : new ApiError("unreadable_request", "The file does not meet the conditions of the request.");
}

/** Converts errors of Fastify itself, which it throws before the handler runs. */
function frameworkError(error: unknown, bodyLimit: number | undefined): ApiError | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("malformed_body", "The body is not valid JSON.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_INVALID_TYPE":
      return new ApiError(
        "malformed_body",
        "The body must be JSON, sent with Content-Type: application/json.",
      );
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("body_too_large", `The body must be at most ${(bodyLimit ?? 0) / 1024} KiB long.`);
    case "FST_ERR_BAD_URL":
      return new ApiError("invalid_request", "The path has an invalid percent-encoding.");
    default:
      return undefined;
  }
}

function unexpected(error: unknown): ApiError {
  if (isStoreFault(error)) return storeUnavailable(error);
  return new ApiError("internal_error", "Internal error. See the service log for this error_id.", [], {
    cause: error,
  });
}

export function storeUnavailable(cause: unknown): ApiError {
  const state = storeInTrouble(cause) === undefined ? "unreachable" : "not working";
  const detail = `The store of this data is ${state}. See the service log for this error_id.`;
  return new ApiError("store_unavailable", detail, [], { cause });
}
